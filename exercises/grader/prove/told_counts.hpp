// Counts that an exercise asks its learner to predict must not stand in its text.
#pragma once

#include <vector>

#include "exercises/grader/prove/lint.hpp"

namespace flashlab::exercises {

/// Returns a problem for each such count that problem.md prints ("25 cycles", "11n - 1 cycles").
std::vector<LintProblem> lint_told_counts(const Exercise& exercise);

}  // namespace flashlab::exercises
