// Shows the failing run of a wrong program: in the debugger, or as a page with the player.
#pragma once

#include <cstddef>
#include <string>

#include "cli/debug/debugger.hpp"
#include "cli/exercises/checked_work.hpp"
#include "exercises/grader/grade/failing_run.hpp"

namespace flashlab::cli {

/// Returns "See it happen: flashlab exercises debug 02_c00 mine.toy\n", or nothing if no step is guilty.
std::string debug_hint(const Work& work, const exercises::Verdict& verdict);

/// Returns the run that the verdict is about. Throws Failure if there is none.
exercises::FailingRun find_failing_run(const Work& work, const toy::SourceText& source,
                                       const exercises::Verdict& verdict);

/// Opens the debugger on the run, right before the guilty step, and returns its exit code.
int debug_failing_run(const exercises::FailingRun& run, DebuggerRequest request,
                      const TerminalOptions& terminal);

/// Columns of a text that a phone shows without wrapping it.
inline constexpr std::size_t kPhoneText = 40;

/// What a check says, in kWidestText and in kPhoneText columns.
struct CheckSaid {
  std::string wide, narrow;
};

/// Writes a page about the verdict: the player for the steps up to a little after the guilty one, or,
/// if no step is guilty, what the check says. So a page never shows a program of before. Throws Failure.
void write_check_page(const Work& work, const toy::SourceText& source,
                      const exercises::Verdict& verdict, const CheckSaid& said,
                      const std::string& file);

}  // namespace flashlab::cli
