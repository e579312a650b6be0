// Regions of parameters: conjunctions of conditions. Private to formulas.
#pragma once

#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/inequalities.hpp"

namespace flashlab::toy::detail {

Inequalities facts_of(const std::vector<Condition>& conditions);

/// The facts and one more.
Inequalities with(Inequalities facts, const Polynomial& nonnegative);

/// What holds exactly where the condition does not.
Polynomial opposite(const Polynomial& nonnegative);

/// Conditions that say nothing new beside the domain and each other are left out; where only one
/// value remains, both directions are stated.
std::vector<Condition> simplified(const std::vector<Condition>& conditions,
                                  const std::vector<Condition>& domain);

/// Several sums on one region: a linear combination of the tree's sums each.
struct Region {
  std::vector<Condition> conditions;
  std::vector<Polynomial> values;
};

/// Joins regions with equal values where their union can be told simply.
void join_equal(std::vector<Region>& regions, const std::vector<Condition>& domain);

}  // namespace flashlab::toy::detail
