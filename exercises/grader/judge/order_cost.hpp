// The minimum cost of a right program's own order of operations, and the loads that it would save.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/attempt.hpp"

namespace flashlab::exercises {

struct OrderAnalysis {
  std::string unknown;  // why there is no result; then the other members are meaningless
  OrderCost cost;
  std::vector<LoadLine> loads;  // one for each line of the program, by line number
};

/// Analyses an attempt that passed, with the exercise's register limit and operand rule and the
/// default costs. Unknown for tiles and narrow elements, for more than 200'000 steps, and where
/// optimal::best_loads() has no result.
OrderAnalysis analyse_order(const ProgramTask& task, const Attempt& attempt);

/// Returns whether the score at this size adds to the costs: sizes with a searched proof,
/// and the last.
bool is_scored(const Exercise& exercise, const Size& size);

/// Returns the score at one size, from its analysis.
SizeScore score_of(const Exercise& exercise, const Attempt& attempt, const OrderAnalysis& order);

}  // namespace flashlab::exercises
