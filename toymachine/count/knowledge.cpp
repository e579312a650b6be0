#include "toymachine/count/knowledge.hpp"

#include <algorithm>

namespace flashlab::toy::detail {
namespace {

/// Limit on the sum of cubed numbers of facts over all answers; some seconds.
constexpr std::size_t kMostEffort = 30'000'000;

/// Returns a lower bound on the polynomial: B*ceil(n/B) becomes n, or n + B - 1 if
/// it is subtracted.
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

std::vector<Atom> loops_of(const Polynomial& polynomial) {
  std::vector<Atom> atoms = polynomial.atoms();
  std::erase_if(atoms, [](const Atom& atom) { return !is_loop_atom(atom); });
  return atoms;
}

}  // namespace

Knowledge::Fact::Fact(const Polynomial& polynomial)
    : nonnegative(polynomial), loops(loops_of(polynomial)), text(to_string(polynomial) + ";") {}

bool Knowledge::Fact::mentions_any(const std::vector<Atom>& atoms) const {
  return std::find_first_of(loops.begin(), loops.end(), atoms.begin(), atoms.end()) != loops.end();
}

Knowledge::Knowledge(const Inequalities& domain) {
  for (const Polynomial& fact : domain.all()) facts_.emplace_back(fact);
}

void Knowledge::enter(const NestLoop& range) {
  sizes_.push_back(facts_.size());
  ranges_.push_back(range);
  std::vector<Polynomial> facts;
  add_range(range, facts);
  for (const Polynomial& fact : facts) facts_.emplace_back(fact);
}

void Knowledge::leave() {
  facts_.erase(facts_.begin() + static_cast<std::ptrdiff_t>(sizes_.back()), facts_.end());
  sizes_.pop_back();
  ranges_.pop_back();
}

/// Returns the facts about parameters alone, and those linked to these loop variables.
std::vector<const Knowledge::Fact*> Knowledge::about(std::vector<Atom> loops,
                                                     const std::vector<Fact>& more) const {
  std::vector<const Fact*> left, found;
  for (const Fact& fact : facts_) (fact.loops.empty() ? found : left).push_back(&fact);
  for (const Fact& fact : more) (fact.loops.empty() ? found : left).push_back(&fact);
  for (bool grows = true; grows;) {
    const auto tied = std::stable_partition(
        left.begin(), left.end(), [&](const Fact* fact) { return !fact->mentions_any(loops); });
    for (auto fact = tied; fact != left.end(); ++fact) {
      loops.insert(loops.end(), (*fact)->loops.begin(), (*fact)->loops.end());
    }
    grows = tied != left.end();
    found.insert(found.end(), tied, left.end());
    left.erase(tied, left.end());
  }
  return found;
}

bool Knowledge::follows(const Polynomial& goal, const std::vector<const Fact*>& from) const {
  if (const auto number = goal.as_constant()) return *number >= 0;
  std::string question = to_string(goal) + ">=0 if ";
  for (const Fact* fact : from) question += fact->text;
  const auto [place, is_new] = answers_.try_emplace(std::move(question));
  if (!is_new || effort_ > kMostEffort) return place->second;
  effort_ += from.size() * from.size() * from.size();
  Inequalities known;
  for (const Fact* fact : from) known.add(fact->nonnegative);
  return place->second =
             known.implies(goal) || (!has_loop_atom(goal) && known.implies_as_it_stands(goal));
}

bool Knowledge::implies(const Polynomial& nonnegative) const {
  if (const auto number = nonnegative.as_constant()) return *number >= 0;
  if (follows(nonnegative, about(loops_of(nonnegative), {}))) return true;
  std::vector<const Fact*> all;
  for (const Fact& fact : facts_) all.push_back(&fact);
  return follows(nonnegative, all);
}

bool Knowledge::implies_all(const std::vector<Polynomial>& nonnegative) const {
  return std::all_of(nonnegative.begin(), nonnegative.end(),
                     [&](const Polynomial& goal) { return implies(goal); });
}

bool Knowledge::tells_apart(const Polynomial& difference,
                            const std::vector<Polynomial>& facts) const {
  if (const auto number = difference.as_constant()) return *number != 0;
  std::vector<Fact> more;
  for (const Polynomial& fact : facts) more.emplace_back(fact);
  auto known = about(loops_of(difference), more);
  if (!has_loop_atom(difference)) {  // inside a loop over d, R[c] and R[c + d] differ
    for (const Fact& fact : facts_) known.push_back(&fact);
    for (const Fact& fact : more) known.push_back(&fact);
  }
  return follows(difference - 1, known) || follows(-difference - 1, known);
}

/// Returns a condition on parameters alone under which the goal is >= 0 in all iterations
/// of the loops.
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
    facts_.emplace(facts_.begin(), condition);
    for (std::size_t& size : sizes_) ++size;
  }
}

}  // namespace flashlab::toy::detail
