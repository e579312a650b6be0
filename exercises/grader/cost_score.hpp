// What a right program's counts are worth.
#pragma once

#include <vector>

#include "exercises/grader/exercise.hpp"
#include "exercises/grader/verdict.hpp"
#include "toymachine/counters.hpp"
#include "toymachine/loop_nest.hpp"

namespace flashlab::exercises {

/// The formula at a size. Throws std::runtime_error when it uses an unknown parameter.
toy::Count value_at(const toy::Polynomial& formula, const Size& size);

/// 1 at full marks, 0 from twice as much on, a straight line between. Where full marks want none, 0
/// for any.
double cost_share(const CostLine& line);

struct CostScore {
  std::vector<CostLine> lines;  // one a counter of `full`
  double share = 1;             // of the points for cost
  bool full = true;             // all of them
  bool accepted = true;         // nothing above `most`
};

/// CostLine::solution is left for the caller to fill in.
CostScore score_cost(const Cost& cost, const Size& size, const toy::Counters& counters,
                     const toy::BoundProgram& bound);

}  // namespace flashlab::exercises
