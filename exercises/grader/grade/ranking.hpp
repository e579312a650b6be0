// The place of a submission among the programs of its exercise, by DRAM traffic.
#pragma once

#include <vector>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/attempt.hpp"

namespace flashlab::exercises {

/// Ranks the submission, whose attempts at the counted sizes are `attempts`, among the programs of
/// [[beside]]. A program that does not fit a size is left out.
Ranking rank(const ProgramTask& task, const std::vector<Attempt>& attempts);

}  // namespace flashlab::exercises
