// Flags that several commands share, and their meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/capacity.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/links/machines.hpp"

namespace CLI {
class App;
}

namespace flashlab::cli {

/// A command from main's view: a function that adds its subcommand and returns its action.
using CommandAction = std::function<int()>;
using AddCommand = CommandAction (*)(CLI::App&);

/// --color, --ascii, --unicode, --width.
struct TerminalOptions {
  std::string color = "auto";
  bool ascii = false;
  bool unicode = false;
  bool no_pager = false;
  std::size_t width = 0;

  void add_to(CLI::App& command);
  /// Returns the terminal. From here on, long output goes through a pager.
  Terminal terminal() const;
};

/// A range of values in a sweep: `3..32`, `8..1024*2`, `8,16,32`; otherwise one value.
struct ParameterRange {
  std::string name;
  std::vector<std::int64_t> values;
};

/// The flags that define the machine of a program: -D, --registers, --operands, --sram,
/// limits, and --cost.
struct MachineOptions {
  std::vector<std::string> definitions;  // "n=64,d=4"
  std::string registers;
  std::string operands;
  std::string sram;  // "48KiB", or a GPU's name
  std::string costs;
  std::optional<std::string> score;  // a function of the scores, for read_score
  toy::Limits limits;
  double max_seconds = 0;  // 0: no limit
  std::string max_memory;  // empty: no limit

  /// Adds the flags. `executes`: whether the limits on steps and arrays apply; they do not matter
  /// to a command that only counts.
  void add_to(CLI::App& command, bool executes);
  /// Returns the binding. After the first call, --max-seconds and --max-memory limit the command.
  /// Throws Failure for a -D or --registers that is malformed or repeated.
  toy::CapacityBinding binding() const;
  /// Returns flags with ranges; `binding` receives those with one value.
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

/// A program after reading and assembling.
struct LoadedProgram {
  std::shared_ptr<const toy::SourceText> source;
  std::shared_ptr<const toy::Program> program;

  /// Throws Failure if the parameters do not fit.
  toy::BoundProgram bind(const toy::CapacityBinding& binding) const;
  /// The same for a program that may run on several machines.
  toy::Machines bind_machines(const toy::CapacityBinding& binding) const;
  /// Returns "softmax_online: Online softmax in two passes, …", as lines that fit.
  std::string heading(const Terminal& terminal) const;
  /// Returns the file's name without folders and ending.
  std::string short_name() const;
};
/// `name` is one for read_program. With a + and the name of a score function behind it, as in
/// "flash2+soft_cap", the program has that function, otherwise the machine's (--score).
LoadedProgram load_program(const std::string& name, const MachineOptions& machine);
LoadedProgram load_program(const std::string& name, const toy::Limits& limits);
LoadedProgram load_text(const std::string& name, const std::string& text);

/// Returns the parameters that have the same value on all machines of a program.
std::vector<std::size_t> common_params(const toy::BoundProgram& bound);
/// Returns "n = 4, d = 2; 4 registers".
std::string setting(const toy::BoundProgram& bound);

/// Adds the positional PROGRAM argument, with the same help in every command.
void add_program_argument(CLI::App& command, std::string& name,
                          const std::string& flag = "program");

/// Returns the parts of "a,b" between the commas. An empty text has one part, which is empty, and so is
/// what follows a comma at the end; a line end at the end adds no part.
std::vector<std::string> split(const std::string& text, char separator);

/// Returns bytes for "49152", "48KiB", "1.5 MB". Nothing if the text is not a size.
std::optional<std::int64_t> parse_size(const std::string& text);

/// Parses --most-bytes, which must be above 0. Throws Failure.
std::size_t parse_memory(const std::string& text);

/// Returns the GPUs that parse_capacity() knows: "h100, a100, …".
std::string gpu_keys();

/// Parses a size, or the name of a GPU, which stands for its shared memory per
/// block. Throws Failure.
std::int64_t parse_capacity(const std::string& text);

/// Parses `a..b`, `a..b+s`, `a..b*f` or `a,b,c`, both ends included. Throws Failure, which says
/// that `number`, or a range, was expected.
std::vector<std::int64_t> parse_values(const std::string& name, const std::string& text,
                                       const std::string& number = "a whole number");

}  // namespace flashlab::cli
