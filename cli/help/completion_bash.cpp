#include <map>

#include "cli/help/completion_scripts.hpp"
#include "text/lists.hpp"

namespace flashlab::cli {
namespace {

// Supports bash 3.2, which lacks mapfile. It splits a word with '=' into three words.
constexpr const char* kBashHead =
    R"(# Completion of flashlab for bash. Made by `flashlab completion bash`.

_flashlab_reply() {  # KIND WORDS: what the word under the cursor can become
  local before='' IFS=$' \t\n'
  if [[ $1 == list && $cur == *,* ]]; then before=${cur%,*},; fi
  COMPREPLY=($(compgen -P "$before" -W "$2" -- "${cur#"$before"}"))
  IFS=$'\n'
  case $1 in
    files) COMPREPLY+=($(compgen -f -- "$cur")) ;;
    folders) COMPREPLY+=($(compgen -d -- "$cur")) ;;
    list) compopt -o nospace 2>/dev/null; return ;;
    *) return ;;
  esac
  compopt -o filenames 2>/dev/null
}

_flashlab_has() {  # WORDS: whether one of them stands before the cursor
  local word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ " $1 " == *" $word "* ]] && return
  done
  return 1
}

_flashlab() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' i
  if [[ $cur == = ]]; then
    cur=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)";

/// Shell patterns and their actions. Equal actions share a line.
class BashCases {
 public:
  void add(const std::string& action, const std::string& pattern) {
    std::string& patterns = patterns_[action];
    if (patterns.empty()) order_.push_back(action);
    patterns += (patterns.empty() ? "'" : " | '") + pattern + "'";
  }
  std::string text(const std::string& indent) const {
    std::string text;
    for (const std::string& action : order_) {
      text += indent + patterns_.at(action) + ") " + action + " ;;\n";
    }
    return text;
  }

 private:
  std::map<std::string, std::string> patterns_;
  std::vector<std::string> order_;
};

std::string bash_reply(const Values& values) {
  return "_flashlab_reply " + kind_of(values) + " '" + joined(values.words, " ") + "'";
}

std::string bash_words(const std::vector<std::string>& words) {
  return "_flashlab_reply words '" + joined(words, " ") + "'";
}

}  // namespace

std::string bash_completion(const CommandTree& root) {
  BashCases commands, after_flags, flags, arguments;
  for (const CommandTree* const command : all_commands(root)) {
    const std::string path = command == &root ? "" : " " + path_of(root, *command);
    if (command != &root) commands.add("command+=\" ${COMP_WORDS[i]}\"", path);
    for (const Parameter& flag : command->flags) {
      if (flag.value.empty()) continue;
      for (const std::string& name : flag.names) {
        after_flags.add(bash_reply(values_of(*command, flag)) + "; return", path + " " + name);
      }
    }
    flags.add(bash_words(names_of_flags(*command)), path);
    if (const auto choices = first_choices(*command); !choices.empty()) {
      arguments.add("if _flashlab_has '" + joined(choices, " ") + "'; then " +
                        bash_reply(argument_values(*command)) + "; else " + bash_words(choices) +
                        "; fi",
                    path);
    } else if (command->commands.empty()) {
      arguments.add(bash_reply(argument_values(*command)), path);
    } else {
      arguments.add(bash_words(names_below(*command)), path);
      commands.add("command+=\" ${COMP_WORDS[i]}\"", path + " help");
      arguments.add(bash_words(names_below(*command)), path + " help");
    }
  }
  return kBashHead + commands.text("      ") +
         "    esac\n"
         "  done\n"
         "  case \"$command $previous\" in\n" +
         after_flags.text("    ") +
         "  esac\n"
         "  if [[ $cur == -* ]]; then\n"
         "    case $command in\n" +
         flags.text("      ") +
         "    esac\n"
         "  else\n"
         "    case $command in\n" +
         arguments.text("      ") +
         "    esac\n"
         "  fi\n"
         "}\n"
         "complete -F _flashlab flashlab\n";
}

}  // namespace flashlab::cli
