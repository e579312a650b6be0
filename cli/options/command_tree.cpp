#include "cli/options/command_tree.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace flashlab::cli {
namespace {

constexpr std::string_view kExamples = "\n\nExamples:\n";

/// The words that the parser accepts follow the type's name: "WHEN:{auto,always,never}".
std::vector<std::string> checked_words(const std::string& type) {
  const std::size_t open = type.find(":{"), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

Parameter parameter_of(const CLI::Option& option) {
  Parameter parameter;
  for (const std::string& name : option.get_snames()) parameter.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) parameter.names.push_back("--" + name);
  const std::string type = option.get_type_name();
  if (option.get_expected_max() > 0 && option.get_type_size() > 0) {
    parameter.value = type.substr(0, type.find(':'));  // without the check of the value
    parameter.choices = checked_words(type);
  }
  parameter.description = option.get_description();
  parameter.initial = option.get_default_str();
  parameter.group = option.get_group();
  return parameter;
}

/// Parses lines of the form "  flashlab run my.toy    what that does".
std::vector<Example> examples_in(const std::string& text) {
  std::vector<Example> found;
  for (const std::string& row : CLI::detail::split(text, '\n')) {
    const std::string line = CLI::detail::trim_copy(row);
    const std::size_t gap = std::min(line.find("  "), line.size());
    if (!line.empty())
      found.push_back({line.substr(0, gap), CLI::detail::trim_copy(line.substr(gap))});
  }
  return found;
}

}  // namespace

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

std::string usage_of(const CLI::App& command) {
  std::string text = full_name(command);
  if (!command.get_subcommands({}).empty()) return text + " COMMAND [FLAG ...]";
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) continue;
    const std::string type = option->get_type_name();
    text += " " + type.substr(0, type.find(':'));  // without the check of the value
  }
  return text + " [FLAG ...]";
}

CommandTree command_tree(const CLI::App& command) {
  CommandTree tree;
  tree.name = command.get_name();
  tree.full_name = full_name(command);
  tree.usage = usage_of(command);
  const std::string description = command.get_description();
  const std::size_t examples = description.find(kExamples);
  tree.summary = description.substr(0, examples);
  if (examples != std::string::npos) {
    tree.examples = examples_in(description.substr(examples + kExamples.size()));
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? tree.flags : tree.arguments).push_back(parameter_of(*option));
  }
  for (const CLI::App* below : command.get_subcommands({})) {
    if (!below->get_group().empty()) tree.commands.push_back(command_tree(*below));
  }
  return tree;
}

std::vector<const CommandTree*> all_commands(const CommandTree& root) {
  std::vector<const CommandTree*> all{&root};
  for (const CommandTree& command : root.commands) {
    const std::vector<const CommandTree*> below = all_commands(command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace flashlab::cli
