// Hints as the learner sees them, for `hint` and for `watch`.
#pragma once

#include <cstddef>
#include <string>

#include "cli/exercises/learner.hpp"

namespace flashlab::cli {

/// How many of the exercise's hints were shown, at most kHintLevels.
std::size_t hints_shown(const Learner& learner, const exercises::Exercise& exercise);

/// Hint `level`, from 1, under a line that says which it is.
std::string hint_text(const exercises::Exercise& exercise, std::size_t level,
                      const Terminal& terminal);

/// Prints the hint and remembers that it was shown.
void show_hint(Learner& learner, const exercises::Exercise& exercise, std::size_t level,
               const Terminal& terminal);

}  // namespace flashlab::cli
