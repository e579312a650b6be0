// Starts an exercise, for `start` and `watch`.
#pragma once

#include <string>

#include "cli/exercises/learner.hpp"

namespace flashlab::cli {

/// Writes the starter to a file that must not exist yet, and stores its path. Throws Failure: the
/// file exists, or cannot be written.
void start_exercise(Learner& learner, const exercises::Exercise& exercise, const std::string& file);

}  // namespace flashlab::cli
