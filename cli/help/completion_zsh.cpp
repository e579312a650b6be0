#include "cli/help/completion_scripts.hpp"
#include "text/lists.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kZshHead = R"(#compdef flashlab
# Completion of flashlab for zsh. Made by `flashlab completion zsh`.

_flashlab_reply() {  # KIND [WORD ...]
  local kind=$1
  shift
  case $kind in
    list) _sequence compadd - "$@" ;;
    files) compadd -- "$@"; _files ;;
    folders) compadd -- "$@"; _files -/ ;;
    *) compadd -- "$@" ;;
  esac
}

_flashlab() {
  local command='' curcontext=$curcontext
  local -i depth=1 i
  for ((i = 2; i < CURRENT; i++)); do
    case "$command $words[i]" in
)";

constexpr const char* kZshFoot = R"(  esac
}

if [[ $funcstack[1] == _flashlab ]]; then
  _flashlab "$@"
else
  compdef _flashlab flashlab
fi
)";

/// Quotes for the shell, without characters that _arguments would interpret.
std::string zsh_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string zsh_plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// Returns ":what it is:how to complete it".
std::string zsh_value(const std::string& value, const Values& values) {
  const std::string words = values.words.empty() ? "" : " " + joined(values.words, " ");
  return ":" + zsh_plain(value) + ": _flashlab_reply " + kind_of(values) + words;
}

std::string zsh_arguments(const CommandTree& command) {
  if (!command.commands.empty()) {
    return "*:COMMAND: _flashlab_reply words " + joined(names_below(command), " ");
  }
  if (command.arguments.empty()) return "";
  const std::string value = joined(command.arguments, " ", &Parameter::value);
  return "*" + zsh_value(value, argument_values(command));
}

}  // namespace

std::string zsh_completion(const CommandTree& root) {
  std::string paths, text;
  for (const CommandTree* const command : all_commands(root)) {
    const std::string path = command == &root ? "" : " " + path_of(root, *command);
    if (command != &root) paths += (paths.empty() ? "" : " | ") + zsh_quoted(path);
    text += "    (" + zsh_quoted(path) + ") _arguments -s";
    for (const Parameter& flag : command->flags) {
      for (const std::string& name : flag.names) {
        const bool takes_value = !flag.value.empty();
        const std::string ending = !takes_value ? "" : name.starts_with("--") ? "=" : "+";
        text += " \\\n      " +
                zsh_quoted("*" + name + ending + "[" + zsh_plain(flag.description) + "]" +
                           (takes_value ? zsh_value(flag.value, values_of(*command, flag)) : ""));
      }
    }
    if (const auto choices = first_choices(*command); !choices.empty()) {
      const std::string first = zsh_value(command->arguments.front().value, {.words = choices});
      text += " \\\n      " + zsh_quoted("1" + first);
    }
    const std::string argument = zsh_arguments(*command);
    text += (argument.empty() ? "" : " \\\n      " + zsh_quoted(argument)) + " ;;\n";
  }
  return kZshHead + ("      (" + paths + ") command+=\" $words[i]\"; depth=i ;;\n") +
         "    esac\n"
         "  done\n"
         "  shift $((depth - 1)) words\n"
         "  ((CURRENT -= depth - 1))\n"
         "  case $command in\n" +
         text + kZshFoot;
}

}  // namespace flashlab::cli
