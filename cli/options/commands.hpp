// The commands of `flashlab`, one source file each. Each function adds its subcommand to the app
// and returns the action for when it is chosen. The action returns the exit code.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.hpp"

namespace flashlab::cli {

CommandAction add_tour(CLI::App& app);
CommandAction add_run(CLI::App& app);
CommandAction add_trace(CLI::App& app);
CommandAction add_debug(CLI::App& app);
CommandAction add_dap(CLI::App& app);
CommandAction add_lsp(CLI::App& app);
CommandAction add_answer(CLI::App& app);
CommandAction add_timeline(CLI::App& app);
CommandAction add_picture(CLI::App& app);
CommandAction add_figure(CLI::App& app);
CommandAction add_cost(CLI::App& app);
CommandAction add_sweep(CLI::App& app);
CommandAction add_diff(CLI::App& app);
CommandAction add_tables(CLI::App& app);
CommandAction add_isa(CLI::App& app);
CommandAction add_format(CLI::App& app);
CommandAction add_editor(CLI::App& app);
CommandAction add_programs(CLI::App& app);
CommandAction add_exercises(CLI::App& app);
CommandAction add_write(CLI::App& app);
CommandAction add_next(CLI::App& app);
CommandAction add_read(CLI::App& app);
CommandAction add_grade(CLI::App& app);
CommandAction add_attention(CLI::App& app);
CommandAction add_projections(CLI::App& app);
CommandAction add_compare(CLI::App& app);
CommandAction add_optimal(CLI::App& app);
CommandAction add_gpu(CLI::App& app);
CommandAction add_manual(CLI::App& app);  // hidden, like the next one: for makers of packages
CommandAction add_completion(CLI::App& app);
CommandAction add_grading_worker(CLI::App& app);  // hidden: started by `grade` and `check`

/// Returns the commands in the order of the help: machine_commands.cpp and all_commands.cpp.
std::span<const AddCommand> commands();

/// Returns what `flashlab` does without arguments: the words of a command.
std::vector<std::string> words_of_bare_call();

/// The command with subcommands, and its default subcommand.
inline constexpr const char *kExercises = "exercises", *kExercisesDefault = "list";
/// `flashlab check` is `flashlab exercises check`, and so on.
inline constexpr std::array<std::string_view, 7> kShortExercises = {
    "show", "start", "check", "hint", "watch", "predict", "history"};

/// Adds a subcommand with the first line of its help and the examples at its beginning.
CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const std::string& examples);

/// Hides a command from the help.
void hide(CLI::App& command);

/// Requires that one of the command's subcommands is chosen.
void require_subcommand(CLI::App& command);

/// Runs the action of the chosen subcommand of `app`. `actions` are in the order in which
/// they were added.
int run_chosen(const CLI::App& app, const std::vector<CommandAction>& actions);

}  // namespace flashlab::cli
