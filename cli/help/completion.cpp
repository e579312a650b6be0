// `flashlab completion`: prints scripts for completion in a shell.
#include <algorithm>
#include <iostream>
#include <memory>

#include "attention/variants.hpp"
#include "cli/help/completion_scripts.hpp"
#include "cli/machine/source_tables.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "gpu/sheets/gpu_specs.hpp"

namespace flashlab::cli {
namespace {

void offer_programs(std::vector<std::string>& words) {
  for (const BundledProgram& program : bundled_programs()) words.emplace_back(program.name);
}

void offer_exercises(std::vector<std::string>& words) {
  for (const auto& exercise : exercises::builtin_exercises()) words.push_back(exercise.id);
}

void offer_variants(std::vector<std::string>& words) {
  for (const VariantInfo& variant : variants()) words.emplace_back(variant.name);
  words.emplace_back("all");
}

void offer_gpus(std::vector<std::string>& words) {
  for (const auto& gpu : gpu::gpu_specs()) words.push_back(gpu.key);
}

int print_completion(const CLI::App& app, const std::string& shell) {
  const CommandTree root = command_tree(app);
  std::cout << (shell == "bash"   ? bash_completion(root)
                : shell == "fish" ? fish_completion(root)
                                  : zsh_completion(root));
  return kExitGood;
}

}  // namespace

Values values_of(const CommandTree& command, const Parameter& parameter) {
  const auto value_has = [&](const char* part) {
    return parameter.value.find(part) != std::string::npos;
  };
  const auto is_flag = [&](const char* name) {
    return std::find(parameter.names.begin(), parameter.names.end(), name) != parameter.names.end();
  };
  Values values{.words = parameter.choices, .list = value_has(",...")};
  if (!values.words.empty()) return values;
  const bool program = parameter.value.starts_with("PROGRAM") || parameter.value == "COMPUTATION";
  const bool named = parameter.names.empty() && parameter.value.starts_with("NAME");
  values.files = program || value_has("FILE");
  values.folders = value_has("DIR") || value_has("FOLDER");
  if (program || (named && command.name == "programs")) offer_programs(values.words);
  if (named && command.name == "tables") values.words = source_table_names();
  if (value_has("ID") && command.name != "new") offer_exercises(values.words);
  if (value_has("GPU") || is_flag("--gpu")) offer_gpus(values.words);
  if (is_flag("--variant")) offer_variants(values.words);
  return values;
}

std::string path_of(const CommandTree& root, const CommandTree& command) {
  return &command == &root ? "" : command.full_name.substr(root.full_name.size() + 1);
}

std::vector<std::string> first_choices(const CommandTree& command) {
  return command.arguments.size() < 2 ? std::vector<std::string>{}
                                      : command.arguments.front().choices;
}

Values argument_values(const CommandTree& command) {
  Values all;
  const std::size_t first = first_choices(command).empty() ? 0 : 1;
  for (std::size_t at = first; at < command.arguments.size(); ++at) {
    const Values values = values_of(command, command.arguments[at]);
    all.words.insert(all.words.end(), values.words.begin(), values.words.end());
    all.files = all.files || values.files;
    all.folders = all.folders || values.folders;
  }
  return all;
}

std::string kind_of(const Values& values) {
  if (values.files) return "files";
  if (values.folders) return "folders";
  return values.list ? "list" : "words";
}

std::vector<std::string> names_below(const CommandTree& command) {
  std::vector<std::string> names;
  for (const CommandTree& below : command.commands) names.push_back(below.name);
  if (!names.empty()) names.emplace_back("help");
  return names;
}

std::vector<std::string> names_of_flags(const CommandTree& command) {
  std::vector<std::string> names;
  for (const Parameter& flag : command.flags) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return names;
}

CommandAction add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App& command = add_command(
      app, "completion", "A script that completes flashlab's command lines in a shell",
      "  source <(flashlab completion bash)                   in ~/.bashrc\n"
      "  source <(flashlab completion zsh)                    in ~/.zshrc, after compinit\n"
      "  flashlab completion fish | source                    in ~/.config/fish/config.fish\n");
  hide(command);
  add_option(command, "shell", *shell, "bash, zsh or fish")
      .one_of({"bash", "zsh", "fish"})
      .type_name("SHELL")
      .required();
  return [&app, shell] { return print_completion(app, *shell); };
}

}  // namespace flashlab::cli
