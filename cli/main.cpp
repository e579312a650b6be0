// flashlab: programs on the toy machine, from the command line. Each command has its own file. This
// file finds the command and converts failures into a message and an exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <new>

#include "cli/options/command_line.hpp"
#include "cli/options/command_tree.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/output_files.hpp"
#include "cli/options/parse_failure.hpp"
#include "cli/options/version.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/pager.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::cli {
namespace {

/// Formats help that begins with usage: summary and examples (the description), then the flags.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    std::string text = make_description(app) + make_usage(app, name) + make_positionals(app) +
                       make_groups(app, mode) + make_subcommands(app, mode);
    if (app->get_parent() == nullptr) text += make_footer(app);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) {
      text.erase(at, 1);  // the base class adds too many blank lines
    }
    return text;
  }

  /// The summary and the examples. A command is never broken, so that it can be copied: if it does
  /// not fit beside its explanation, that follows on a line of its own.
  std::string make_description(const CLI::App* app) const override {
    const std::string whole = CLI::Formatter::make_description(app);
    std::string text;
    for (const std::string_view line : split_at(whole, '\n')) {
      const std::size_t gap = line.find("  ", 2);
      if (display_width(line) <= kHelpWidth || gap == std::string::npos) {
        for (const std::string& part : wrap(line, kHelpWidth)) text += part + "\n";
        continue;
      }
      text += std::string(line.substr(0, gap)) + "\n" + std::string(6, ' ');
      text += std::string(line.substr(line.find_first_not_of(' ', gap))) + "\n";
    }
    text.pop_back();
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string) const override {
    return "Usage: " + usage_of(*app) + "\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const bool takes_value = option->get_expected_max() > 0 && option->get_type_size() > 0;
    std::string type = option->get_type_name();
    type = type.substr(0, type.find(':'));  // without the check of the value
    std::string name = is_positional ? type : option->get_name(false, true);
    if (const std::size_t comma = name.find(','); comma != std::string::npos && !is_positional)
      name.insert(comma + 1, " ");
    if (!is_positional && takes_value) name += " " + type;
    const std::string& value = option->get_default_str();
    return entry(name, option->get_description() + (value.empty() ? "" : " (" + value + ")"));
  }

  /// The list of commands shows only the first line of a description.
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string description = command->get_description();
    return entry(command->get_display_name(), description.substr(0, description.find('\n')), 15);
  }

 private:
  static constexpr std::size_t kHelpWidth = 80;

  static std::string entry(const std::string& name, const std::string& description,
                           std::size_t column = 28) {
    std::string text = "  " + name;
    text += text.size() < column ? std::string(column - text.size(), ' ')
                                 : "\n" + std::string(column, ' ');
    const std::vector<std::string> lines = wrap(description, kHelpWidth - column);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text += (i > 0 ? std::string(column, ' ') : "") + lines[i] + "\n";
    }
    return text;
  }
};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (!names.empty()) names.emplace_back("help");
  return names;
}

/// Returns the arguments after replacing shortcuts: `flashlab help trace` is `flashlab
/// trace --help`, a bare `flashlab` is `flashlab next --where`, `flashlab exercises` is
/// `flashlab exercises list`, and `flashlab check` is `flashlab exercises check`.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return words_of_bare_call();
  const std::size_t first =
      words[0] == "help" && words.size() > 1 ? 1 : 0;  // `flashlab help check`, too
  const auto is_short = [&](std::string_view name) { return name == words[first]; };
  if (std::any_of(kShortExercises.begin(), kShortExercises.end(), is_short)) {
    words.insert(words.begin(), kExercises);
  }
  const std::size_t help = words[0] == kExercises ? 1 : 0;  // `flashlab exercises help`, too
  if (words.size() > help && words[help] == "help") {
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(help));
    words.push_back("--help");
    return words;
  }
  const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (words[0] == kExercises && std::none_of(words.begin(), words.end(), is_help) &&
      (words.size() == 1 || words[1].starts_with('-'))) {
    words.insert(words.begin() + 1, kExercisesDefault);
  }
  return words;
}

/// Reports a word that should be a command of `app` but is not, with the existing commands. The
/// command itself checks the words after it.
void check_command_names(const CLI::App& app, const std::vector<std::string>& words,
                         std::size_t at = 0) {
  if (at == words.size() || words[at].starts_with('-')) return;
  const std::vector<std::string> names = command_names(app);
  const bool top = app.get_parent() == nullptr;
  if (names.empty() || words[at] == "help") return;
  if (std::find(names.begin(), names.end(), words[at]) != names.end()) {
    return check_command_names(*app.get_subcommand(words[at]), words, at + 1);
  }
  const std::string before = top ? "" : app.get_name() + " ";
  throw request_failure("there is no command '" + before + printable(words[at]) + "'",
                        "one of those that `" + full_name(app) + " --help` lists",
                        nearest(words[at], names).value_or(""));
}

int run_command(int argc, char** argv) {
  CLI::App app(
      "Write programs for a small machine, run them, see every step, count every cycle.\n\n"
      "Examples:\n"
      "  flashlab tour                          two minutes: what this is about\n"
      "  flashlab next                          the next exercise of the course\n"
      "  flashlab trace matmul_c00              seven steps that make one element of a product\n"
      "  flashlab run softmax_online -D n=64    run it and count\n"
      "  flashlab cost softmax_online           the same counts as formulas, without running\n"
      "  flashlab exercises                     write such programs yourself\n",
      "flashlab");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.footer(
      "`flashlab COMMAND --help` describes a command. `flashlab show`, `start`,\n"
      "`check`, `hint`, `watch`, `predict` and `history` are short for `flashlab\n"
      "exercises show` and so on.\n");
  std::vector<CommandAction> actions;
  for (const AddCommand add : commands()) actions.push_back(add(app));

  const std::vector<std::string> words = arguments(argc, argv);
  check_command_names(app, words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the order it requires
  } catch (const CLI::Success& request) {                               // --help, --version
    if (std::find(words.begin(), words.end(), "--no-pager") == words.end()) page_output();
    app.exit(request);
    return kExitGood;
  } catch (const CLI::ParseError& error) {
    check_values_are_no_flags(app, words);
    throw parse_failure(app, error, words);
  }
  check_values_are_no_flags(app, words);
  check_files(chosen_files(app));
  return run_chosen(app, actions);
}

int run_and_report(int argc, char** argv) {
  try {
    const int code = run_command(argc, argv);
    end_paging();
    std::cout.flush();
    if (!std::cout) throw request_failure("standard output cannot be written");
    return code;
  } catch (const Failure& failure) {
    end_paging();
    std::cout.flush();
    std::cerr << failure.what();
    return failure.code();
  } catch (const toy::BudgetExceeded& over) {
    const char* const flag =
        over.resource() == toy::Resource::kTime ? "--max-seconds" : "--max-memory";
    end_paging();
    std::cout.flush();
    std::cerr << "flashlab: error: this takes " << over.what() << "\n  expected less, or a larger "
              << flag << "\n";
    return kExitLimit;
  } catch (const std::bad_alloc&) {
    end_paging();
    std::cerr << "flashlab: error: not enough memory (--max-array-bytes limits the arrays)\n";
    return kExitLimit;
  }
}

}  // namespace

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const std::string& examples) {
  return *app.add_subcommand(name, summary + "\n\nExamples:\n" + examples);
}

void hide(CLI::App& command) { command.group(""); }

void require_subcommand(CLI::App& command) { command.require_subcommand(1); }

int run_chosen(const CLI::App& app, const std::vector<CommandAction>& actions) {
  const std::vector<const CLI::App*> all = app.get_subcommands({});
  const auto chosen = std::find(all.begin(), all.end(), app.get_subcommands().front());
  return actions[static_cast<std::size_t>(chosen - all.begin())]();
}

}  // namespace flashlab::cli

int main(int argc, char** argv) {
  flashlab::cli::open_standard_descriptors();
  flashlab::cli::handle_signals();
  flashlab::cli::set_command_line(argc, argv);
  std::ios::sync_with_stdio(false);
  flashlab::cli::use_waiting_streams();
  return flashlab::cli::run_and_report(argc, argv);
}
