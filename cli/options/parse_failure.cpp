#include "cli/options/parse_failure.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "cli/options/command_tree.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {
namespace {

using Words = std::vector<std::string>;

bool is(const CLI::ParseError& error, CLI::ExitCodes code) {
  return error.get_exit_code() == static_cast<int>(code);
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The command that the words so far select.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

/// The name of a flag in one of the words: "--n" in "--n=4", "-N" in "-N4". Empty if the word is no
/// flag.
std::string flag_in(std::string_view word) {
  if (word.starts_with("--")) return std::string(word.substr(0, word.find('=')));
  return word.size() > 1 && word[0] == '-' ? std::string(word.substr(0, 2)) : "";
}

/// What to write instead of a word that is no flag of the command.
std::string expected_instead(const std::string& word, const std::string& help) {
  std::error_code code;
  if (!word.starts_with('-') || !std::filesystem::exists(word, code)) return help;
  return "./" + printable(word) + " for the file of that name, or " + help;
}

/// The error about a word that begins with - and is no flag of the command, if there is one.
std::optional<Failure> unknown_flag(const CLI::App& app, const CLI::App& command,
                                    const std::string& help) {
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with('-') || word.size() < 2) continue;
    return request_failure(
        "there is no flag " + in_quotes(word), expected_instead(word, help),
        nearest(word.substr(0, word.find('=')), flag_names(command)).value_or(""));
  }
  return {};
}

/// The option's name as it was typed last; its long name if it was not.
std::string typed_name(const CLI::Option& option, const Words& words) {
  const auto names_it = [&](const std::string& word) {
    const std::string flag = flag_in(word);
    return !flag.empty() && option.check_name(flag);
  };
  const auto last = std::find_if(words.rbegin(), words.rend(), names_it);
  return last == words.rend() ? option.get_name() : flag_in(*last);
}

/// The error about a required argument, with the command's usage.
Failure missing_argument(const CLI::App& command, const std::string& parser_says) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->get_required() && parser_says.starts_with(name + " is required")) {
      return request_failure(
          option->nonpositional() ? name + " is missing" : "the argument '" + name + "' is missing",
          usage_of(command));
    }
  }
  return request_failure(printable(parser_says), usage_of(command));
}

/// "N,...: lengths of sequences"
std::string expected_value(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':')) + ": " + option.get_description();
}

/// The error about a value of a flag that takes none, if there is one.
std::optional<Failure> superfluous_value(const CLI::App& command, const Words& words) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const CLI::Option* option =
        equals == std::string::npos ? nullptr : command.get_option_no_throw(flag_in(word));
    if (option == nullptr || option->get_expected_max() > 0) continue;
    const std::string name = flag_in(word), value = printable(word.substr(equals));
    return request_failure(name + " takes no value, but found '" + value.substr(1) + "'",
                           name + " without '" + value + "'");
  }
  return {};
}

/// The error about a word that nothing takes, if it follows a flag without a value: the word was probably
/// meant for this flag, whose description says what it does instead.
std::optional<Failure> word_after_flag(const CLI::App& command, const Words& words,
                                       const std::string& unexpected) {
  const auto found = std::ranges::find(words, unexpected);
  if (found == words.begin() || found == words.end() || unexpected.starts_with('-')) return {};
  const std::string& flag = *std::prev(found);
  const CLI::Option* option =
      flag.starts_with('-') ? command.get_option_no_throw(flag_in(flag)) : nullptr;
  if (option == nullptr || option->get_expected_max() > 0) return {};
  return request_failure(
      "unexpected argument '" + printable(unexpected) + "': " + flag + " takes no value",
      flag + ": " + option->get_description());
}

/// The error about a flag's values that cannot be read.
Failure unreadable_value(const CLI::Option& option, const std::string& name) {
  const std::vector<std::string>& values = option.results();
  const auto is_number = [](const std::string& value) {
    double number = 0;
    return read_whole(value, number);
  };
  const auto wrong = std::find_if_not(values.begin(), values.end(), is_number);
  const std::string given = name + " " + joined(values, ",");
  return request_failure(
      printable(given) + ": " +
          (wrong == values.end() ? "the value cannot be read"
                                 : "'" + printable(*wrong) + "' is not a number"),
      expected_value(option));
}

/// The error about the value of one flag, if it is one.
std::optional<Failure> wrong_value(const CLI::App& command, const CLI::ParseError& error,
                                   const Words& words) {
  const std::string text = error.what();
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name(), prefix = name + ": ";
    if (is(error, CLI::ExitCodes::ConversionError) &&
        text.find(" " + name + " = ") != std::string::npos) {
      return unreadable_value(*option, typed_name(*option, words));
    }
    if (!text.starts_with(prefix)) continue;
    if (is(error, CLI::ExitCodes::ArgumentMismatch) && text.ends_with(" missing")) {
      return request_failure(typed_name(*option, words) + " has no value", expected_value(*option));
    }
    if (is(error, CLI::ExitCodes::ValidationError) && option->nonpositional()) {
      std::string problem = printable(text.substr(prefix.size()));
      // A range without an upper end.
      const std::string value = joined(option->results(), ","),
                        no_end = "Value " + value + " not in range 0 to " +
                                 std::to_string(std::numeric_limits<std::int64_t>::max());
      if (problem == no_end) problem = "'" + value + "' is less than 0";
      const bool shows_value = problem.starts_with('\'');
      return request_failure(
          typed_name(*option, words) +
              (shows_value ? " " + printable(joined(option->results(), ",")) : "") + ": " + problem,
          expected_value(*option));
    }
  }
  return {};
}

}  // namespace

Failure parse_failure(const CLI::App& app, const CLI::ParseError& error, const Words& words) {
  const CLI::App& command = innermost(app);
  const std::string help = "what `" + full_name(command) + " --help` lists";
  for (const std::string& word : app.remaining(true)) {
    if (!is(error, CLI::ExitCodes::ExtrasError)) break;
    if (const auto failure = word_after_flag(command, words, word)) return *failure;
    const std::string flag = word.substr(0, word.find('='));
    return request_failure(
        "unexpected argument '" + printable(word) + "'", expected_instead(word, help),
        flag.starts_with('-') ? nearest(flag, flag_names(command)).value_or("") : "");
  }
  const std::string text = error.what();
  if (is(error, CLI::ExitCodes::RequiredError)) {
    if (const auto failure = unknown_flag(app, command, help)) return *failure;
    return missing_argument(command, text);
  }
  if (is(error, CLI::ExitCodes::ArgumentMismatch)) {
    if (const auto failure = superfluous_value(command, words)) return *failure;
  }
  return wrong_value(command, error, words).value_or(request_failure(printable(text), help));
}

void check_values_are_no_flags(const CLI::App& app, const Words& words) {
  const CLI::App& command = innermost(app);
  const auto flag = [&](const std::string& word) -> const CLI::Option* {
    if (!word.starts_with('-') || word.size() < 2) return nullptr;
    return command.get_option_no_throw(word);
  };
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    const CLI::Option* const option = flag(words[i]);
    if (option == nullptr || option->get_expected_min() == 0 || flag(words[i + 1]) == nullptr) {
      continue;
    }
    throw request_failure(
        words[i] + " has no value: " + words[i + 1] + " after it is a flag",
        expected_value(*option) + "; or " + words[i] + "=" + words[i + 1] + " if it is meant");
  }
}

std::vector<NamedFile> chosen_files(const CLI::App& app) { return named_files(innermost(app)); }

}  // namespace flashlab::cli
