// Checks an exercise for errors.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/grader.hpp"

namespace flashlab::exercises {

struct LintProblem {
  std::string file;  // "wrong/x.toy"
  std::string what;  // the whole message, possibly several lines
};

/// Returns all problems; empty: none. Among them: the folder cannot be read (format() of its
/// errors), the solution does not earn full marks, the starter passes (the demonstration's must), a
/// wrong submission passes or is not explained as exercise.toml says, an unused file, a hint that
/// repeats another, proofs that do not match the current exercise, …
std::vector<LintProblem> lint(const ExerciseSource& source, const GraderOptions& options = {},
                              const Files& measurements = committed_measurements());

/// Returns what is wrong with the exercise's place among all others: it follows one that there is not,
/// or itself, through others.
std::vector<LintProblem> lint_place(const ExerciseSource& source,
                                    const std::vector<ExerciseSource>& all);

}  // namespace flashlab::exercises
