// What a right program's own order of operations would cost at best, and which of its loads that
// saves.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/attempt.hpp"

namespace flashlab::exercises {

struct OrderAnalysis {
  std::string unknown;  // why there is none; the rest says nothing then
  OrderCost cost;
  std::vector<LoadLine> loads;  // a line of the program each, by its number
};

/// Of an attempt that passed, with the exercise's register limit and operand rule and the default
/// costs. Unknown: elements are tiles or narrow, more than 200'000 steps, and what
/// optimal::best_loads() cannot tell.
OrderAnalysis analyse_order(const ProgramTask& task, const Attempt& attempt);

/// Sizes at which a score says more than the costs do: those with a searched proof, and the last.
bool is_scored(const Exercise& exercise, const Size& size);

/// The score of one size, and the analysis that it is from.
SizeScore score_of(const Exercise& exercise, const Attempt& attempt, const OrderAnalysis& order);

}  // namespace flashlab::exercises
