// Flags and arguments of commands, without including CLI11, which takes seconds to compile. Only
// flags.cpp, command_tree.cpp, parse_failure.cpp and main.cpp include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace flashlab::cli {

/// What a flag's value names.
enum class FileRole : std::uint8_t {
  kInput,   // a file that the command reads; of a folder, also the submissions and exercises in it
  kValues,  // "x=values.csv": a file that the command reads behind the '='
  kOutput,  // a file or a folder that the command writes
  kProgramOutput,  // one that may be a .toy file
};

/// A file of a command line, as typed: of the flag or argument that names it.
struct NamedFile {
  std::string flag, name;
  FileRole role = FileRole::kInput;
};

/// A flag or an argument of a command. Calls can be chained.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  // The help
  Flag type_name(const std::string& name) const;
  Flag group(const std::string& name) const;
  Flag default_str(const std::string& value) const;
  Flag capture_default_str() const;  // the variable's current value

  /// The value is a file, which check_files() compares with the others of the command.
  Flag file(FileRole role) const;

  // The accepted values
  Flag required() const;
  Flag expected(int least, int most) const;  // number of values
  Flag allow_extra_args(bool allows) const;  // further values after the first
  Flag delimiter(char separator) const;      // between values
  Flag excludes(const Flag& other) const;    // not together with it
  Flag one_of(std::vector<std::string> all) const;
  Flag between(int low, int high) const;  // both included
  Flag between(unsigned low, unsigned high) const;
  Flag between(std::int64_t low, std::int64_t high) const;
  Flag between(std::size_t low, std::size_t high) const;
  Flag between(double low, double high) const;
  /// Calls `call` with each given value.
  Flag each(const std::function<void(const std::string&)>& call) const;

 private:
  CLI::Option* option_;
};

/// Returns the files that the command line gave to a command, in the order of its flags.
std::vector<NamedFile> named_files(const CLI::App& command);

/// Adds an option. A number is what read_whole() reads, in the range of its type: no nan, no inf,
/// no sign that the type does not have, nothing behind it. `names`: "-j,--jobs", or "id" for an
/// argument. The value stays unchanged if the option is missing. Supports strings, numbers,
/// optionals and vectors of them: see the end of flags.cpp.
template <class Value>
Flag add_option(CLI::App& command, const std::string& names, Value& value, const std::string& help);

/// Adds a flag without a value; true if given.
Flag add_flag(CLI::App& command, const std::string& names, bool& is_given, const std::string& help);

/// Sets `is_given` after parsing if a flag of that group was given.
void note_if_given(CLI::App& command, const std::string& group, bool& is_given);

}  // namespace flashlab::cli
