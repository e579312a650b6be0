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

/// Returns what the check of the learner's file adds to a hint; empty if there is no file, if it is
/// right, or if the check finds no place.
std::string hint_on_work(const Work& work, std::size_t level);

/// Prints the hint, after what it says of the learner's file, and records it.
void show_hint(Learner& learner, const Work& work, std::size_t level, const Terminal& terminal);

}  // namespace flashlab::cli
