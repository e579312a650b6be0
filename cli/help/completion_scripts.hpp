// What shells need to complete a command line, made from the tree of commands. Each script stands
// alone: while it completes, it starts nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/options/command_tree.hpp"

namespace flashlab::cli {

/// What can stand where a value is wanted, apart from a text of one's own.
struct Values {
  std::vector<std::string> words;
  bool files = false, folders = false;
  bool list = false;  // several words, with commas between them
};

/// Of a command's flag or argument.
Values values_of(const CommandTree& command, const Parameter& parameter);

std::string bash_completion(const CommandTree& root);
std::string fish_completion(const CommandTree& root);
std::string zsh_completion(const CommandTree& root);

/// The words of a command behind the root's name: "exercises check".
std::string path_of(const CommandTree& root, const CommandTree& command);

/// "a b c".
std::string spaced(const std::vector<std::string>& words);

/// The values of all arguments of a command together.
Values argument_values(const CommandTree& command);

/// What comes after a flag that takes a value, or in place of an argument: "words", "files", …
std::string kind_of(const Values& values);

/// The names of the commands below, and of all flags.
std::vector<std::string> names_below(const CommandTree& command);
std::vector<std::string> names_of_flags(const CommandTree& command);

}  // namespace flashlab::cli
