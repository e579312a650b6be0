// The rows of a verdict: every submission to an exercise has the same ones.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// "results at n = 8"; "results" for an exercise without sizes.
std::string result_name(const Size& size);

/// One row for all drawn sizes, so that every submission has the same rows with any seed.
inline constexpr const char* kDrawnResults = "results at drawn sizes";

/// One row for the larger sizes at which costs are counted or times are taken.
inline constexpr const char* kLargeResults = "results at the largest sizes";

/// The names of the rows about results, in their order.
std::vector<std::string> result_names(const ProgramTask& task);

/// Adds the rows that grading did not reach, and sets the points of all rows and of the verdict, which is
/// their sum. The rows about results share the points for correctness. The counters share the points
/// for cost; each counter's are rounded down.
void complete_checks(const ProgramTask& task, Verdict& verdict);

}  // namespace flashlab::exercises
