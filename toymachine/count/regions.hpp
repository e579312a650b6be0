// Regions of parameters: conjunctions of conditions. Private to formulas.
#pragma once

#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/inequalities.hpp"

namespace flashlab::toy::detail {

Inequalities facts_of(const std::vector<Condition>& conditions);

/// The facts and one more.
Inequalities with(Inequalities facts, const Polynomial& nonnegative);

/// Returns the condition that holds exactly where this one does not.
Polynomial opposite(const Polynomial& nonnegative);

/// Drops conditions that follow from the domain and the other conditions. If only one value
/// remains, both directions are stated.
std::vector<Condition> simplified(const std::vector<Condition>& conditions,
                                  const std::vector<Condition>& domain);

/// Several sums on one region; each is a linear combination of the tree's sums.
struct Region {
  std::vector<Condition> conditions;
  std::vector<Polynomial> values;
};

/// Joins regions with equal values if their union is a simple conjunction.
void join_equal(std::vector<Region>& regions, const std::vector<Condition>& domain);

}  // namespace flashlab::toy::detail
