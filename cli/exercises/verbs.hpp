// The verbs of `flashlab exercises`. Each function adds its subcommand to the command `exercises`
// and returns the action for when it is chosen.
#pragma once

#include "cli/options/options.hpp"

namespace flashlab::cli {

// For learners (list.cpp, show.cpp, start.cpp, …).
CommandAction add_exercises_list(CLI::App& exercises);
CommandAction add_exercises_show(CLI::App& exercises);
CommandAction add_exercises_start(CLI::App& exercises);
CommandAction add_exercises_check(CLI::App& exercises);
CommandAction add_exercises_debug(CLI::App& exercises);
CommandAction add_exercises_hint(CLI::App& exercises);
CommandAction add_exercises_watch(CLI::App& exercises);
CommandAction add_exercises_solution(CLI::App& exercises);
CommandAction add_exercises_predict(CLI::App& exercises);
CommandAction add_exercises_history(CLI::App& exercises);
CommandAction add_exercises_board(CLI::App& exercises);  // history.cpp, too
CommandAction add_exercises_reset(CLI::App& exercises);
CommandAction add_exercises_summary(CLI::App& exercises);

// For authors (author.cpp).
CommandAction add_exercises_new(CLI::App& exercises);
CommandAction add_exercises_lint(CLI::App& exercises);
CommandAction add_exercises_prove(CLI::App& exercises);  // prove.cpp

}  // namespace flashlab::cli
