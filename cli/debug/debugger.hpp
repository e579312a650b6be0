// Opens the debugger for a person or for a script.
#pragma once

#include <string>
#include <vector>

#include "cli/options/flags.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/terminal.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::cli {

/// How the debugger is opened.
struct DebuggerRequest {
  std::string commands;            // a file of commands, - for standard input; empty: on the screen
  std::vector<std::string> first;  // commands that are executed first
  std::string message;             // is shown at the start; may be empty
  bool double_precision = false;
  toy::CostTable costs;

  void add_to(CLI::App& command);
};

/// Debugs a run of the program from this DRAM, and returns the exit code. Throws Failure: standard
/// input or output is no terminal and there is no file of commands; more steps than the limits allow.
int open_debugger(const toy::BoundProgram& program, toy::InitialDram dram,
                  const DebuggerRequest& request, const TerminalOptions& terminal);

}  // namespace flashlab::cli
