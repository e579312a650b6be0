// The commands of `flashlab`, one source file each. Each function adds its subcommand to the app
// and returns what to do when that was chosen; the result of that is the exit code.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/options/options.hpp"

namespace flashlab::cli {

CommandAction add_tour(CLI::App& app);
CommandAction add_run(CLI::App& app);
CommandAction add_trace(CLI::App& app);
CommandAction add_timeline(CLI::App& app);
CommandAction add_cost(CLI::App& app);
CommandAction add_sweep(CLI::App& app);
CommandAction add_diff(CLI::App& app);
CommandAction add_tables(CLI::App& app);
CommandAction add_isa(CLI::App& app);
CommandAction add_programs(CLI::App& app);
CommandAction add_exercises(CLI::App& app);
CommandAction add_grade(CLI::App& app);
CommandAction add_attention(CLI::App& app);
CommandAction add_compare(CLI::App& app);
CommandAction add_optimal(CLI::App& app);
CommandAction add_manual(CLI::App& app);  // hidden, as is the next: for who makes packages
CommandAction add_completion(CLI::App& app);
CommandAction add_grading_worker(CLI::App& app);  // hidden: `grade` and `check` start it

/// What an executable can do, in the order of the help: machine_commands.cpp and all_commands.cpp.
std::span<const AddCommand> commands();

/// The command with commands of its own, and the one among them that is meant when none is named.
inline constexpr const char *kExercises = "exercises", *kExercisesDefault = "list";

/// A subcommand with its first help line and the examples that its help opens with.
CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const std::string& examples);

/// Leaves a command out of the help.
void hide(CLI::App& command);

/// One of the commands that `command` has must be chosen.
void require_subcommand(CLI::App& command);

/// Does what was chosen among the subcommands of `app`, `actions` in the order in which they were
/// added.
int run_chosen(const CLI::App& app, const std::vector<CommandAction>& actions);

}  // namespace flashlab::cli
