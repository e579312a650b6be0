// The commands, their arguments and flags as data, from the parser itself. The manual and the
// completions are made from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flashlab::cli {

/// A flag, or an argument without a name.
struct Parameter {
  std::vector<std::string> names;    // "--registers", "-v"; empty: an argument
  std::string value;                 // "PROGRAM"; empty: a flag without a value
  std::vector<std::string> choices;  // the only accepted values, if restricted
  std::string description;
  std::string initial;  // default value, if the help states it
  std::string group;
};

/// A line of the help, and its second column, which may be empty.
struct Example {
  std::string line, shows;
};

struct CommandTree {
  std::string name;       // "check"
  std::string full_name;  // "flashlab exercises check"
  std::string usage;      // "flashlab exercises check [ID] [FILE] [FLAG ...]"
  std::string summary;
  std::vector<Example> examples;
  std::vector<Parameter> arguments, flags;
  std::vector<CommandTree> commands;
};

/// Returns "flashlab exercises check".
std::string full_name(const CLI::App& command);

/// Returns "flashlab trace PROGRAM [FLAG ...]".
std::string usage_of(const CLI::App& command);

/// Returns a command and all its subcommands, except those that the help hides.
CommandTree command_tree(const CLI::App& command);

/// Returns the command itself and all its subcommands, in the order of the help.
std::vector<const CommandTree*> all_commands(const CommandTree& root);

}  // namespace flashlab::cli
