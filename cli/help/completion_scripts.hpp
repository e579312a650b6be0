// Data for completion scripts, made from the tree of commands. The scripts are self-contained: they
// start no process while completing.
#pragma once

#include <string>
#include <vector>

#include "cli/options/command_tree.hpp"

namespace flashlab::cli {

/// The possible values at a place, besides free text.
struct Values {
  std::vector<std::string> words;
  bool files = false, folders = false;
  bool list = false;  // several words, separated by commas
};

/// Returns the values of a command's flag or argument.
Values values_of(const CommandTree& command, const Parameter& parameter);

std::string bash_completion(const CommandTree& root);
std::string fish_completion(const CommandTree& root);
std::string zsh_completion(const CommandTree& root);

/// Returns the words of a command after the root's name: "exercises check".
std::string path_of(const CommandTree& root, const CommandTree& command);

/// Returns the words of which one comes before all other arguments of a command, such as the kinds of
/// pictures; empty for most commands.
std::vector<std::string> first_choices(const CommandTree& command);

/// Returns the values of all arguments of a command, behind first_choices().
Values argument_values(const CommandTree& command);

/// Returns the kind of values for a flag or an argument: "words", "files", …
std::string kind_of(const Values& values);

/// Return the names of the subcommands, and of all flags.
std::vector<std::string> names_below(const CommandTree& command);
std::vector<std::string> names_of_flags(const CommandTree& command);

}  // namespace flashlab::cli
