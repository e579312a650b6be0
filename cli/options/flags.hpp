// Flags and arguments of commands, without CLI11: it takes seconds to read, and flags.cpp,
// command_tree.cpp and main.cpp are the only files that do.
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

/// A flag or an argument that a command has; says more about it, in a chain.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  // In the help
  Flag type_name(const std::string& name) const;
  Flag group(const std::string& name) const;
  Flag default_str(const std::string& value) const;
  Flag capture_default_str() const;  // the variable's value now

  // What is taken
  Flag required() const;
  Flag expected(int least, int most) const;  // values
  Flag allow_extra_args(bool allows) const;  // more values behind the first
  Flag delimiter(char separator) const;      // between values
  Flag excludes(const Flag& other) const;    // not beside it
  Flag one_of(std::vector<std::string> all) const;
  Flag between(int low, int high) const;  // both included
  Flag between(unsigned low, unsigned high) const;
  Flag between(std::int64_t low, std::int64_t high) const;
  Flag between(std::size_t low, std::size_t high) const;
  Flag between(double low, double high) const;
  /// Called with each value that was given.
  Flag each(const std::function<void(const std::string&)>& call) const;

 private:
  CLI::Option* option_;
};

/// `names`: "-j,--jobs", or "id" for an argument. The value stays as it is when nothing is given.
/// For strings, numbers, optionals and vectors of them: those at the end of flags.cpp.
template <class Value>
Flag add_option(CLI::App& command, const std::string& names, Value& value, const std::string& help);

/// Without a value: true when it is given.
Flag add_flag(CLI::App& command, const std::string& names, bool& is_given, const std::string& help);

/// Once the command line has been read: sets `is_given` when a flag of that group was given.
void note_if_given(CLI::App& command, const std::string& group, bool& is_given);

}  // namespace flashlab::cli
