// What a right program's counts are worth.
#pragma once

#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::exercises {

/// The formula at a size. Throws std::runtime_error when it uses an unknown parameter.
toy::Count value_at(const toy::Polynomial& formula, const Size& size);

/// 1 at full marks, 0 from twice as much on, a straight line between. Where full marks want none, 0
/// for any.
double cost_share(const CostLine& line);

/// A counter above what the exercise accepts.
struct Excess {
  std::string key;
  toy::Count value, most;
};

struct CostScore {
  std::vector<CostLine> lines;   // one for each counter of `full`
  std::vector<Excess> excesses;  // empty: accepted

  bool accepted() const { return excesses.empty(); }
  /// All points for cost.
  bool full() const;
  /// The part of them that is earned.
  double share() const;
};

/// CostLine::solution is left for the caller to fill in.
CostScore score_cost(const Cost& cost, const Size& size, const toy::Counters& counters,
                     const toy::BoundProgram& bound);

}  // namespace flashlab::exercises
