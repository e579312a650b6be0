// Prints an exercise, for `exercises show` and `next`.
#pragma once

#include "cli/exercises/learner.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// Prints the problem, its machine, its chapter, and the command to go on with.
void show_exercise(const exercises::Exercise& exercise, const Learner& learner,
                   const Terminal& terminal);

}  // namespace flashlab::cli
