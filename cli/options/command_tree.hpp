// The commands, their arguments and flags as data, read off the parser itself: what the manual and
// the completions are made from.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flashlab::cli {

/// A flag, or an argument without a name.
struct Parameter {
  std::vector<std::string> names;    // "--registers", "-v"; none: an argument
  std::string value;                 // "PROGRAM"; empty: a flag without a value
  std::vector<std::string> choices;  // where nothing else is taken
  std::string description;
  std::string initial;  // the value that it has when it is left out, where the help says it
  std::string group;
};

/// A line of the help, and what its second column says; that may be empty.
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

/// "flashlab exercises check".
std::string full_name(const CLI::App& command);

/// "flashlab trace PROGRAM [FLAG ...]".
std::string usage_of(const CLI::App& command);

/// A command with all below it. What the help hides is left out.
CommandTree command_tree(const CLI::App& command);

/// The command itself and all below it, in the order of the help.
std::vector<const CommandTree*> all_commands(const CommandTree& root);

}  // namespace flashlab::cli
