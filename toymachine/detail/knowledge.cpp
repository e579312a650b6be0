#include "toymachine/detail/knowledge.hpp"

#include <algorithm>

namespace flashlab::toy::detail {

void Knowledge::enter(const NestLoop& range) {
  std::vector<Polynomial> facts;
  add_range(range, facts);
  inside_.push_back(inside_.back());
  for (const Polynomial& fact : facts) inside_.back().add(fact);
  ranges_.push_back(range);
}

bool Knowledge::implies(const Polynomial& nonnegative) const {
  if (const auto number = nonnegative.as_constant()) return *number >= 0;
  return inside_.back().implies(nonnegative);
}

bool Knowledge::implies_all(const std::vector<Polynomial>& nonnegative) const {
  return std::all_of(nonnegative.begin(), nonnegative.end(),
                     [&](const Polynomial& goal) { return implies(goal); });
}

bool Knowledge::tells_apart(const Polynomial& difference,
                            const std::vector<Polynomial>& facts) const {
  if (const auto number = difference.as_constant()) return *number != 0;
  Inequalities known = inside_.back();
  for (const Polynomial& fact : facts) known.add(fact);
  return known.implies(difference - 1) || known.implies(-difference - 1);
}

Certainty Knowledge::certainty(bool exact, const std::vector<Polynomial>& goals) const {
  Certainty result{exact, {}};
  for (const Polynomial& goal : goals) {
    if (!result.possible) break;
    if (implies(goal)) continue;
    result.possible = !goal.as_constant() && !has_loop_atom(goal);
    result.needs.push_back(goal);
  }
  if (!result.possible) result.needs.clear();
  return result;
}

Certainty Knowledge::below(const Polynomial& value, const NestExpression& bound) const {
  std::vector<Polynomial> goals;
  const bool exact = add_below(value, bound, goals);
  return certainty(exact, goals);
}

bool Knowledge::at_least(const Polynomial& value, const NestExpression& bound) const {
  std::vector<Polynomial> goals;
  return add_at_least(value, bound, goals) && implies_all(goals);
}

void Knowledge::adopt(const std::vector<Polynomial>& nonnegative) {
  for (const Polynomial& condition : nonnegative) {
    if (implies(condition)) continue;
    adopted_.push_back(condition);
    for (Inequalities& facts : inside_) facts.add(condition);
  }
}

}  // namespace flashlab::toy::detail
