// The flags that several commands share, and what they stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/count/capacity.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/language/machine.hpp"

namespace CLI {
class App;
}

namespace flashlab::cli {

/// A command as main sees it: adds its subcommand, and returns what to do when it was chosen.
using CommandAction = std::function<int()>;
using AddCommand = CommandAction (*)(CLI::App&);

/// --color, --ascii, --unicode, --width.
struct TerminalOptions {
  std::string color = "auto";
  bool ascii = false;
  bool unicode = false;
  std::size_t width = 0;

  void add_to(CLI::App& command);
  Terminal terminal() const;
};

/// A range of values in a sweep: `3..32`, `8..1024*2`, `8,16,32`; one value otherwise.
struct ParameterRange {
  std::string name;
  std::vector<std::int64_t> values;
};

/// The flags that decide what machine a program runs on: -D, --registers, --operands, --sram,
/// limits, and --cost.
struct MachineOptions {
  std::vector<std::string> definitions;  // "n=64,d=4"
  std::string registers;
  std::string operands;
  std::string sram;  // "48KiB", or a GPU's name
  std::string costs;
  toy::Limits limits;
  double max_seconds = 0;  // 0: no limit
  std::string max_memory;  // empty: no limit

  /// What a program stores does not matter to a command that only counts: `executes` decides
  /// whether the limits on steps and arrays apply.
  void add_to(CLI::App& command, bool executes);
  /// From the first call on, --max-seconds and --max-memory limit what the command does. Throws
  /// Failure for a -D or --registers that is malformed or given twice.
  toy::CapacityBinding binding() const;
  /// The same flags with ranges allowed; `binding` takes those with one value.
  std::vector<ParameterRange> ranges(toy::CapacityBinding& binding) const;
  toy::CostTable cost_table() const;

 private:
  void limit_work() const;
  toy::CapacityBinding binding_without_params() const;
};

/// The flags of commands that execute: --precision, --input.
struct RunOptions {
  std::string precision = "float";
  std::vector<std::string> inputs;  // "x=random:7"

  void add_to(CLI::App& command);
  std::map<std::string, toy::InputSource> input_sources() const;
};

/// A program that was read and assembled.
struct LoadedProgram {
  std::shared_ptr<const toy::SourceText> source;
  std::shared_ptr<const toy::Program> program;

  /// Throws Failure when the parameters do not fit.
  toy::BoundProgram bind(const toy::CapacityBinding& binding) const;
  /// "softmax_online: Online softmax in two passes, …", as lines that fit.
  std::string heading(const Terminal& terminal) const;
  /// The file's name without folders and ending.
  std::string short_name() const;
};
LoadedProgram load_program(const std::string& name, const toy::Limits& limits);
LoadedProgram load_text(const std::string& name, const std::string& text);

/// "n = 4, d = 2; 4 registers".
std::string setting(const toy::BoundProgram& bound);

/// Adds the positional PROGRAM argument, with the help that every command gives for it.
void add_program_argument(CLI::App& command, std::string& name,
                          const std::string& flag = "program");

/// The parts of "a,b" between the commas. An empty text has one, which is empty; behind a comma at
/// the end there is none.
std::vector<std::string> split(const std::string& text, char separator);
/// Without blanks and line ends before and behind.
std::string trimmed(const std::string& text);

/// Bytes: "49152", "48KiB", "1.5 MB". Nothing for what is no size.
std::optional<std::int64_t> parse_size(const std::string& text);

/// What --most-bytes says, more than nothing. Throws Failure.
std::size_t parse_memory(const std::string& text);

/// Reads a size, or the name of a GPU, whose shared memory per block it then is.
/// Throws Failure.
std::int64_t parse_capacity(const std::string& text);

/// Reads `a..b`, `a..b+s`, `a..b*f` or `a,b,c`, both ends included. Throws Failure.
std::vector<std::int64_t> parse_values(const std::string& name, const std::string& text);

}  // namespace flashlab::cli
