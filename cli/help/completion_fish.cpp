#include "cli/help/completion_scripts.hpp"
#include "text/lists.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kFishHead =
    R"fish(# Completion of flashlab for fish. Made by `flashlab completion fish`.

# Whether the words so far name this command: 'exercises check'.
function __flashlab_is
    set -l found
    for word in (commandline -opc)[2..-1]
        if contains -- "$(string join ' ' -- $found $word)" $__flashlab_commands
            set -a found $word
        end
    end
    test "$(string join ' ' -- $found)" = "$argv[1]"
end

complete -c flashlab -f
)fish";

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string fish_words(const Values& values) {
  if (values.words.empty()) return "";
  const std::string words = joined(values.words, " ");
  return " -a " + fish_quoted(values.list ? "(__fish_append , " + words + ")" : words);
}

/// Converts "-D" to -s D and "--define" to -l define.
std::string fish_names(const Parameter& flag) {
  std::string text;
  for (const std::string& name : flag.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandTree& root) {
  std::string paths, text;
  for (const CommandTree* const command : all_commands(root)) {
    const std::string path = path_of(root, *command);
    if (command != &root) paths += " " + fish_quoted(path);
    const std::string when =
        "complete -c flashlab -n " + fish_quoted("__flashlab_is " + fish_quoted(path));
    text += "\n";
    for (const CommandTree& below : command->commands) {
      text += when + " -a " + below.name + " -d " + fish_quoted(below.summary) + "\n";
    }
    const Values values = argument_values(*command);
    std::string behind = when;
    if (const auto choices = first_choices(*command); !choices.empty()) {
      const std::string is_command = "__flashlab_is " + fish_quoted(path);
      const std::string seen = "__fish_seen_subcommand_from " + joined(choices, " ");
      text += "complete -c flashlab -n " + fish_quoted(is_command + "; and not " + seen) +
              fish_words({.words = choices}) + "\n";
      behind = "complete -c flashlab -n " + fish_quoted(is_command + "; and " + seen);
    }
    if (values.files || values.folders) text += behind + " -F\n";
    if (!values.words.empty()) text += behind + fish_words(values) + "\n";
    for (const Parameter& flag : command->flags) {
      text += when + fish_names(flag) + " -d " + fish_quoted(flag.description);
      if (!flag.value.empty()) {
        const Values after = values_of(*command, flag);
        text += (after.files || after.folders ? " -r -F" : " -x") + fish_words(after);
      }
      text += "\n";
    }
  }
  return std::string(kFishHead) + "set -g __flashlab_commands" + paths + "\n" + text;
}

}  // namespace flashlab::cli
