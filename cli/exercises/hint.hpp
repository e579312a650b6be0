// Shows hints to the learner, for `hint` and `watch`.
#pragma once

#include <cstddef>
#include <string>

#include "cli/exercises/learner.hpp"

namespace flashlab::cli {

/// Returns how many of the exercise's hints were shown, at most kHintLevels.
std::size_t hints_shown(const Learner& learner, const exercises::Exercise& exercise);

/// Returns hint `level`, from 1, below a line with its name.
std::string hint_text(const exercises::Exercise& exercise, std::size_t level,
                      const Terminal& terminal);

/// Prints the hint and records it.
void show_hint(Learner& learner, const exercises::Exercise& exercise, std::size_t level,
               const Terminal& terminal);

}  // namespace flashlab::cli
