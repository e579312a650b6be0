#include "toymachine/detail/knowledge.hpp"

#include <algorithm>

namespace flashlab::toy::detail {
namespace {

/// A smaller polynomial in which B*ceil(n/B) is n, or n + B - 1 where it is subtracted.
Polynomial rounded_down(const Polynomial& polynomial) {
  Polynomial result = polynomial;
  for (const Atom& atom : polynomial.atoms()) {
    if (atom.kind() != Atom::Kind::kCeilDiv) continue;
    const Division part = divide(polynomial.coefficient(atom, 1), atom.denominator(), true);
    if (!part.remainder.is_zero()) continue;
    const Polynomial& times = part.quotient;
    const Polynomial multiple = times * atom.denominator() * atom;
    if (obviously_nonnegative(times)) {
      result += times * atom.numerator() - multiple;
    } else if (obviously_nonnegative(-times)) {
      result += times * (atom.numerator() + atom.denominator() - 1) - multiple;
    }
  }
  return result;
}

}  // namespace

void Knowledge::enter(const NestLoop& range) {
  std::vector<Polynomial> facts;
  add_range(range, facts);
  inside_.push_back(inside_.back());
  contexts_.push_back(contexts_.back());
  for (const Polynomial& fact : facts) {
    inside_.back().add(fact);
    contexts_.back() += to_string(fact) + ";";
  }
  ranges_.push_back(range);
}

bool Knowledge::implies(const Polynomial& nonnegative) const {
  if (const auto number = nonnegative.as_constant()) return *number >= 0;
  const auto [place, is_new] =
      answers_.try_emplace(to_string(nonnegative) + ">=0 if " + contexts_.back());
  if (is_new) place->second = inside_.back().implies(nonnegative);
  return place->second;
}

bool Knowledge::implies_all(const std::vector<Polynomial>& nonnegative) const {
  return std::all_of(nonnegative.begin(), nonnegative.end(),
                     [&](const Polynomial& goal) { return implies(goal); });
}

bool Knowledge::tells_apart(const Polynomial& difference,
                            const std::vector<Polynomial>& facts) const {
  if (const auto number = difference.as_constant()) return *number != 0;
  std::string question = to_string(difference) + "!=0 if " + contexts_.back();
  for (const Polynomial& fact : facts) question += to_string(fact) + ";";
  const auto [place, is_new] = answers_.try_emplace(std::move(question));
  if (!is_new) return place->second;
  Inequalities known = inside_.back();
  for (const Polynomial& fact : facts) known.add(fact);
  return place->second = known.implies(difference - 1) || known.implies(-difference - 1);
}

/// A condition on parameters alone under which the goal is >= 0 wherever the loops get.
std::optional<Polynomial> Knowledge::everywhere(Polynomial goal) const {
  for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
    const Atom variable = loop_atom(range->number);
    if (goal.degree(variable) == 0) continue;
    const Polynomial factor = goal.coefficient(variable, 1);
    if (is_leaf(range->lower) && obviously_nonnegative(factor)) {
      goal = substitute(goal, variable, range->lower.polynomial);
    } else if (is_leaf(range->upper) && obviously_nonnegative(-factor)) {
      goal = substitute(goal, variable, range->upper.polynomial - 1);
    } else {
      return std::nullopt;
    }
  }
  if (has_loop_atom(goal) || goal.as_constant()) return std::nullopt;
  return rounded_down(goal);
}

Certainty Knowledge::less(const NestExpression& low, const Polynomial& shift,
                          const NestExpression& high) const {
  std::vector<Polynomial> goals;
  Certainty result{add_less(low, shift, high, goals), {}};
  for (const Polynomial& goal : goals) {
    if (!result.possible) break;
    if (implies(goal)) continue;
    const auto condition = everywhere(goal);
    result.possible = condition.has_value();
    if (condition) result.needs.push_back(*condition);
  }
  if (!result.possible) result.needs.clear();
  return result;
}

bool Knowledge::below(const Polynomial& value, const NestExpression& bound) const {
  if (bound.op == NestExpression::Op::kMax) {
    return std::any_of(bound.args.begin(), bound.args.end(),
                       [&](const NestExpression& arg) { return below(value, arg); });
  }
  std::vector<Polynomial> goals;
  return add_below(value, bound, goals) && implies_all(goals);
}

bool Knowledge::at_least(const Polynomial& value, const NestExpression& bound) const {
  const Polynomial& divisor = bound.polynomial;
  switch (bound.op) {
    case NestExpression::Op::kMin:
      return std::any_of(bound.args.begin(), bound.args.end(),
                         [&](const NestExpression& arg) { return at_least(value, arg); });
    case NestExpression::Op::kCeilDiv:
      return at_least(divisor * value, bound.args[0]);
    case NestExpression::Op::kFloorDiv:
      return at_least(divisor * value + divisor - 1, bound.args[0]);
    default:
      break;
  }
  std::vector<Polynomial> goals;
  return add_at_least(value, bound, goals) && implies_all(goals);
}

void Knowledge::adopt(const std::vector<Polynomial>& nonnegative) {
  for (const Polynomial& condition : nonnegative) {
    if (implies(condition)) continue;
    adopted_.push_back(condition);
    answers_.clear();
    for (Inequalities& facts : inside_) facts.add(condition);
  }
}

}  // namespace flashlab::toy::detail
