// Beginning an exercise, for `start` and for `watch`.
#pragma once

#include <string>

#include "cli/exercises/learner.hpp"

namespace flashlab::cli {

/// Writes the starter to a file that must not be there yet, and remembers where. Throws Failure:
/// the file is there already, or cannot be written.
void start_exercise(Learner& learner, const exercises::Exercise& exercise, const std::string& file);

}  // namespace flashlab::cli
