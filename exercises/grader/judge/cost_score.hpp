// Converts a right program's counts into a score.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/attempt.hpp"

namespace flashlab::exercises {

/// Returns the formula's value at a size. Throws std::runtime_error for an unknown parameter.
toy::Count value_at(const toy::Polynomial& formula, const Size& size);

/// Returns 1 at full marks alone, 0 from the naive cost on, and linear values between.
double cost_share(const CostLine& line);

/// A counter above the accepted maximum.
struct Excess {
  std::string key;
  toy::Count value, most;
};

struct CostScore {
  std::vector<CostLine> lines;   // one for each counter of `full`
  std::vector<Excess> excesses;  // empty: the cost is accepted

  bool accepted() const { return excesses.empty(); }
  /// Returns whether the submission gets all points for cost.
  bool full() const;
};

/// Returns the counts of the naive program for SizedCases::naive. It need not keep the limits that
/// enforce the exercise's idea. Throws std::runtime_error with its errors if it does not fit the exercise
/// at this size.
std::map<std::string, toy::Count> count_naive(const ProgramTask& task, const SizedCases& sized);

/// Returns the counts of the solution for SizedCases::solution. Throws std::runtime_error if it does not fit.
std::map<std::string, toy::Count> count_solution(const ProgramTask& task, const SizedCases& sized);

/// Returns the score of an attempt. The caller sets CostLine::solution.
CostScore score_cost(const ProgramTask& task, const Attempt& attempt);

}  // namespace flashlab::exercises
