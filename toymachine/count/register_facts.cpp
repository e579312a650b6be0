#include "toymachine/count/register_facts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace flashlab::toy::detail {
namespace {

/// A register with more shapes than this is not tracked further.
constexpr std::size_t kMostShapes = 4;

/// Far above the numbers of loops.
constexpr std::size_t kQuantified = 1'000'000'000;
constexpr std::size_t kOther = kQuantified + 1'000'000;  // those of a second fact
constexpr std::size_t kEarlier = kOther + 1'000'000;
constexpr std::size_t kLater = kEarlier + 1;

Atom quantified_atom(std::size_t position) { return loop_atom(kQuantified + position); }

void substitute_in_fact(RegisterFact& fact, const Atom& atom, const Polynomial& value) {
  if (fact.index.degree(atom) > 0) fact.index = substitute(fact.index, atom, value);
  for (NestLoop& loop : fact.over) substitute_in(loop, atom, value);
  for (Polynomial& condition : fact.given) condition = substitute(condition, atom, value);
  std::vector<TileShape> shapes;
  for (const TileShape& shape : fact.shapes) unite(shapes, {with(shape, atom, value)});
  fact.shapes = std::move(shapes);
}

bool places_mention(const RegisterFact& fact, const Atom& atom) {
  return fact.index.degree(atom) > 0 ||
         std::any_of(fact.over.begin(), fact.over.end(),
                     [&](const NestLoop& loop) { return mentions(loop, atom); });
}

bool shapes_mention(const RegisterFact& fact, const Atom& atom) {
  return std::any_of(fact.shapes.begin(), fact.shapes.end(),
                     [&](const TileShape& shape) { return mentions(shape, atom); });
}

std::vector<Polynomial> ranges_of(const RegisterFact& fact) {
  std::vector<Polynomial> facts = fact.given;
  for (const NestLoop& loop : fact.over) add_range(loop, facts);
  return facts;
}

bool apart(const RegisterFact& fact, const Polynomial& index, const Knowledge& knowledge) {
  const Polynomial difference = fact.index - index;
  return !difference.is_zero() && knowledge.tells_apart(difference, ranges_of(fact));
}

// The values of its variables for which a fact is about a register -------------------------------

using Solution = std::vector<Polynomial>;  // by position in RegisterFact::over

/// Returns the order in which variables are solved for: multiples first.
std::vector<std::size_t> solving_order(const RegisterFact& fact) {
  std::vector<std::size_t> order(fact.over.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) -> mpq_class {
    const auto number = fact.index.coefficient(quantified_atom(i), 1).as_constant();
    return number ? mpq_class(-abs(*number)) : mpq_class(-1'000'000'000'000L);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

std::optional<Solution> solution(const RegisterFact& fact, const Polynomial& index) {
  Polynomial rest = index - fact.index;
  std::vector<Polynomial> factors;
  for (std::size_t i = 0; i < fact.over.size(); ++i) {
    factors.push_back(fact.index.coefficient(quantified_atom(i), 1));
    rest += factors.back() * Polynomial(quantified_atom(i));
  }
  Solution values(fact.over.size());
  for (const std::size_t i : solving_order(fact)) {
    if (factors[i].is_zero()) return std::nullopt;
    values[i] = divide(rest, factors[i], /*whole=*/true).quotient;
    rest -= values[i] * factors[i];
  }
  return rest.is_zero() ? std::optional(std::move(values)) : std::nullopt;
}

void insert(NestLoop& loop, const Solution& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    substitute_in(loop, quantified_atom(i), values[i]);
  }
}

/// Whether the loop's variable takes this value.
bool is_taken(const Polynomial& value, const NestLoop& loop, const Knowledge& knowledge) {
  if (!knowledge.below(value, loop.upper) || !knowledge.at_least(value, loop.lower)) return false;
  if (loop.step == Polynomial(1)) return true;
  if (is_leaf(loop.lower) &&
      divide(value - loop.lower.polynomial, loop.step, /*whole=*/true).remainder.is_zero()) {
    return true;
  }
  const auto& ranges = knowledge.ranges();
  return std::any_of(ranges.begin(), ranges.end(), [&](const NestLoop& range) {
    return value == Polynomial(loop_atom(range.number)) && range.lower == loop.lower &&
           range.step == loop.step;
  });
}

/// Returns the register's shapes if the fact is about it; nothing if it may not be.
std::optional<std::vector<TileShape>> shapes_if_covered(const RegisterFact& fact,
                                                        const Polynomial& index,
                                                        const Knowledge& knowledge) {
  const auto values = solution(fact, index);
  if (!values) return std::nullopt;
  for (std::size_t i = 0; i < fact.over.size(); ++i) {
    NestLoop loop = fact.over[i];
    insert(loop, *values);
    if (!is_taken((*values)[i], loop, knowledge)) return std::nullopt;
  }
  std::vector<TileShape> shapes;
  for (TileShape shape : fact.shapes) {
    for (std::size_t i = 0; i < values->size(); ++i) {
      shape = with(shape, quantified_atom(i), (*values)[i]);
    }
    unite(shapes, {shape});
  }
  return shapes;
}

/// Returns the shapes if nothing is known about the variables.
std::vector<TileShape> shapes_anywhere(const RegisterFact& fact) {
  for (std::size_t i = 0; i < fact.over.size(); ++i) {
    if (shapes_mention(fact, quantified_atom(i))) return {};
  }
  return fact.shapes;
}

// Iterations ------------------------------------------------------------------------------------

/// Whether b, in an iteration of `loop` after one of a, can be about the same register.
bool may_meet(const RegisterFact& a, const RegisterFact& b, const NestLoop& loop,
              const Knowledge& knowledge) {
  const auto one = a.index.as_constant();
  const auto other = b.index.as_constant();
  if (one && other) return *one == *other;
  const Atom variable = loop_atom(loop.number);
  const Atom earlier = loop_atom(kEarlier);
  const Atom later = loop_atom(kLater);
  RegisterFact first = a;
  RegisterFact second = b;
  substitute_in_fact(first, variable, earlier);
  for (std::size_t i = 0; i < second.over.size(); ++i) {
    second.over[i].number = kOther + i;
    substitute_in_fact(second, quantified_atom(i), loop_atom(kOther + i));
  }
  substitute_in_fact(second, variable, later);
  std::vector<Polynomial> facts = ranges_of(first);
  const std::vector<Polynomial> more = ranges_of(second);
  facts.insert(facts.end(), more.begin(), more.end());
  NestLoop range = loop;
  for (const std::size_t number : {kEarlier, kLater}) {
    range.number = number;
    add_range(range, facts);
  }
  facts.push_back(Polynomial(later) - Polynomial(earlier) - loop.step);
  return !knowledge.tells_apart(first.index - second.index, facts);
}

bool same_single_shape(const RegisterFact& a, const RegisterFact& b, const Atom& variable) {
  return a.shapes.size() == 1 && a.shapes == b.shapes && !shapes_mention(a, variable) &&
         a.shapes == shapes_anywhere(a) && b.shapes == shapes_anywhere(b);
}

}  // namespace

void unite(std::vector<TileShape>& shapes, const std::vector<TileShape>& more) {
  for (const TileShape& shape : more) {
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
}

void add_fact(RegisterFacts& facts, RegisterFact fact) {
  const bool replaces = fact.certain && fact.needs.empty();
  if (fact.shapes.size() > kMostShapes) fact.shapes.clear();
  if (replaces) {
    std::erase_if(facts, [&](const RegisterFact& older) {
      return older.index == fact.index && older.over == fact.over;
    });
  }
  if (!facts.empty() && facts.back() == fact) return;
  facts.push_back(std::move(fact));
}

void add_facts(RegisterFacts& facts, const RegisterFacts& newer) {
  for (const RegisterFact& fact : newer) add_fact(facts, fact);
}

std::vector<TileShape> shapes_of(const Polynomial& index, const RegisterFacts& facts, bool narrow,
                                 Knowledge& knowledge) {
  std::vector<TileShape> shapes;
  const RegisterFact* last_if_needed = nullptr;  // it gives one shape, under its conditions
  std::vector<TileShape> narrow_shapes;
  for (auto fact = facts.rbegin(); fact != facts.rend(); ++fact) {
    if (apart(*fact, index, knowledge)) continue;
    const auto covered = shapes_if_covered(*fact, index, knowledge);
    const std::vector<TileShape> more = covered ? *covered : shapes_anywhere(*fact);
    if (more.empty()) break;
    unite(shapes, more);
    const bool certain = covered && fact->certain;
    const bool as_needed = knowledge.implies_all(fact->needs);
    if (certain && as_needed) {
      if (!narrow || !last_if_needed || shapes.size() == 1) return shapes;
      break;
    }
    if (certain && (!last_if_needed || shapes.size() == 1)) {
      last_if_needed = &*fact;
      narrow_shapes = shapes;
    }
    if (fact->or_unknown && !as_needed) break;
  }
  if (!narrow || !last_if_needed) return {};  // unknown, or perhaps never written
  knowledge.adopt(last_if_needed->needs);
  return narrow_shapes;
}

RegisterFacts of_all_iterations(RegisterFacts writes, const NestLoop& loop, const Polynomial* next,
                                Knowledge& knowledge) {
  const Atom variable = loop_atom(loop.number);
  std::vector<bool> spreads, unclear(writes.size());
  for (const RegisterFact& fact : writes) {
    spreads.push_back(places_mention(fact, variable) ||
                      (!fact.certain && shapes_mention(fact, variable)));
  }
  for (std::size_t a = 0; a < writes.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {  // a is written after b, and b in a later iteration
      if (!spreads[a]) continue;            // then what counts is its last write
      if (same_single_shape(writes[a], writes[b], variable)) continue;
      if (may_meet(writes[a], writes[b], loop, knowledge)) unclear[a] = unclear[b] = true;
    }
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    RegisterFact& fact = writes[i];
    if (unclear[i]) fact.shapes.clear();
    if (spreads[i]) {
      const std::size_t position = fact.over.size();
      substitute_in_fact(fact, variable, quantified_atom(position));
      fact.over.push_back(loop);
      fact.over.back().number = kQuantified + position;
    } else {
      const bool differs = shapes_mention(fact, variable);
      if (differs && !next) fact.shapes.clear();
      if (next) substitute_in_fact(fact, variable, *next - loop.step);
      std::erase_if(fact.given,
                    [&](const Polynomial& condition) { return condition.degree(variable) > 0; });
      fact.or_unknown = fact.or_unknown || (differs && !fact.needs.empty());
    }
  }
  return writes;
}

RegisterFacts of_iteration(RegisterFacts writes, const Atom& variable, const Polynomial& value) {
  for (RegisterFact& fact : writes) substitute_in_fact(fact, variable, value);
  return writes;
}

}  // namespace flashlab::toy::detail
