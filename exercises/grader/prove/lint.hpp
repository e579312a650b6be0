// What is wrong with an exercise.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/grader.hpp"

namespace flashlab::exercises {

struct LintProblem {
  std::string file;  // "wrong/x.toy"
  std::string what;  // whole message, several lines perhaps
};

/// Everything: the folder cannot be read (format() of its errors), the solution does not earn full
/// marks, the starter passes (the demonstration's must), a wrong submission passes or is not
/// explained as exercise.toml says, a file that nothing refers to, a hint that repeats another,
/// proofs about what the exercise was before it was edited, …
/// Empty: nothing is wrong.
std::vector<LintProblem> lint(const ExerciseSource& source, const GraderOptions& options = {},
                              const Files& measurements = committed_measurements());

}  // namespace flashlab::exercises
