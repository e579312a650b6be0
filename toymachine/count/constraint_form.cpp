#include "toymachine/count/constraint_form.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace flashlab::toy::detail {
namespace {

bool is_positive(const Polynomial& polynomial, const Inequalities& domain) {
  if (domain.implies(polynomial - 1)) return true;
  if (polynomial.terms().size() != 1 || polynomial.terms().begin()->second < 1) return false;
  const std::vector<Atom> factors = polynomial.atoms();
  return std::all_of(factors.begin(), factors.end(),
                     [&](const Atom& factor) { return domain.implies(Polynomial(factor) - 1); });
}

/// The terms with loop variables and those without.
struct Parts {
  Polynomial loops, rest;
};

Parts parts_of(const Polynomial& constraint) {
  Parts parts;
  for (const auto& [monomial, coefficient] : constraint.terms()) {
    const bool has_loop = std::any_of(monomial.begin(), monomial.end(), [](const auto& factor) {
      return is_loop_atom(factor.first);
    });
    (has_loop ? parts.loops : parts.rest).add_term(monomial, coefficient);
  }
  return parts;
}

/// Returns the only loop variable of the polynomial, if there is exactly one and it is linear.
std::optional<Atom> single_loop_atom(const Polynomial& loops) {
  std::optional<Atom> found;
  for (const Atom& atom : loops.atoms()) {
    if (!is_loop_atom(atom)) continue;
    if (found || loops.degree(atom) > 1) return std::nullopt;
    found = atom;
  }
  return found;
}

/// Returns the product of the greatest number and the parameters that divide all terms.
Polynomial shared_factor(const Polynomial& loops) {
  mpz_class number = 0;
  for (const auto& term : loops.terms()) number = gcd(number, term.second.get_num());
  Polynomial factor = number;
  for (const Atom& atom : loops.atoms()) {
    if (is_loop_atom(atom)) continue;
    unsigned lowest = loops.degree(atom);
    for (unsigned power = 0; power < lowest; ++power) {
      if (!loops.coefficient(atom, power).is_zero()) lowest = power;
    }
    factor *= power(atom, lowest);
  }
  return factor;
}

/// Returns a divisor of all terms that is known to be positive: the whole factor of a single
/// variable, or the common factor of several variables.
Polynomial positive_factor(const Polynomial& loops, const Inequalities& domain) {
  Polynomial factor = shared_factor(loops);
  if (const std::optional<Atom> atom = single_loop_atom(loops)) {
    factor = loops.coefficient(*atom, 1);
    if (is_positive(-factor, domain)) factor = -factor;
  }
  return is_positive(factor, domain) ? factor : Polynomial(1);
}

/// factor * loops + rest >= 0 means loops + floor(rest/factor) >= 0.
Polynomial divided(const Polynomial& constraint, const Inequalities& domain) {
  const auto [loops, rest] = parts_of(constraint);
  if (loops.is_zero()) return tightened(constraint);
  const Polynomial factor = positive_factor(loops, domain);
  if (factor == Polynomial(1)) return constraint;
  return divide(loops, factor, /*whole=*/true).quotient + floor_quotient(rest, factor);
}

/// Constraints by the terms that they bound, all but the constant.
using Tightest = std::map<std::map<Monomial, mpq_class>, mpq_class>;

/// Returns false if a constraint cannot hold.
bool add_tightest(const Polynomial& constraint, const Inequalities& domain, Tightest& tightest) {
  const mpq_class constant = constraint.constant_term();
  if (constraint.as_constant()) return constant >= 0;
  if (!has_loop_atom(constraint)) {
    if (domain.implies(constraint)) return true;
    if (domain.implies(-constraint - 1)) return false;
  }
  const auto [place, is_new] = tightest.try_emplace((constraint - constant).terms(), constant);
  if (!is_new) place->second = std::min(place->second, constant);
  return true;
}

/// Solves polynomial = 0 for a loop variable whose value is a whole-valued polynomial
/// in the others.
std::optional<std::pair<Atom, Polynomial>> solved_for_atom(const Polynomial& polynomial) {
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    if (monomial.size() != 1 || monomial[0].second != 1 || abs(coefficient) != 1) continue;
    const Atom& atom = monomial[0].first;
    if (!is_loop_atom(atom)) continue;
    const Polynomial rest = polynomial - Polynomial(atom) * coefficient;
    if (rest.degree(atom) == 0) return std::pair{atom, coefficient > 0 ? -rest : rest};
  }
  return std::nullopt;
}

/// Returns the first variable for which a pair of constraints leaves one value. Sets
/// `contradiction` if a pair leaves none.
std::optional<std::pair<Atom, Polynomial>> forced_value(const Tightest& tightest,
                                                        bool& contradiction) {
  for (const auto& [terms, constant] : tightest) {
    std::map<Monomial, mpq_class> opposite;
    for (const auto& [monomial, coefficient] : terms) opposite[monomial] = -coefficient;
    const auto place = tightest.find(opposite);
    if (place == tightest.end()) continue;
    const mpq_class slack = constant + place->second;
    contradiction = contradiction || slack < 0;
    if (slack != 0) continue;
    Polynomial equation = constant;
    for (const auto& [monomial, coefficient] : terms) equation.add_term(monomial, coefficient);
    if (const auto value = solved_for_atom(equation)) return value;
  }
  return std::nullopt;
}

/// Returns the coefficients of the loop variables, or nothing if one is not a number.
std::optional<std::map<Atom, mpz_class>> loop_coefficients(const Polynomial& constraint) {
  std::map<Atom, mpz_class> coefficients;
  const Polynomial loops = parts_of(constraint).loops;
  for (const auto& [monomial, coefficient] : loops.terms()) {
    if (monomial.size() > 1 || monomial[0].second > 1) return std::nullopt;
    coefficients[monomial[0].first] = coefficient.get_num();
  }
  return coefficients;
}

/// The remainders into which constraints must be split before the variable can be summed over.
struct Needs {
  bool entangled = false;
  mpz_class cases = 1;  // of all remainders together
  std::optional<Atom> first;
  mpz_class modulus = 1;  // for the first
  std::size_t bounds[2] = {0, 0};
  Polynomial entangling;
};

Needs needs_of(const Atom& variable, const std::vector<Polynomial>& constraints) {
  Needs needs;
  std::map<Atom, mpz_class> moduli;
  for (const Polynomial& constraint : constraints) {
    if (constraint.degree(variable) == 0) continue;
    const Polynomial own_factor = constraint.coefficient(variable, 1);
    const auto own = own_factor.as_constant();
    const auto coefficients = loop_coefficients(constraint);
    if (!own || (abs(*own) != 1 && !coefficients)) {
      needs.entangled = true;
      needs.entangling = constraint;
      return needs;
    }
    ++needs.bounds[*own > 0 ? 0 : 1];
    if (abs(*own) == 1) continue;
    const mpz_class divisor = abs(own->get_num());
    for (const auto& [atom, coefficient] : *coefficients) {
      if (atom == variable) continue;
      mpz_class& modulus = moduli.try_emplace(atom, 1).first->second;
      modulus = lcm(modulus, mpz_class(divisor / gcd(divisor, coefficient)));
    }
  }
  for (const auto& [atom, modulus] : moduli) {
    needs.cases *= modulus;
    if (modulus == 1 || needs.first) continue;
    needs.first = atom;
    needs.modulus = modulus;
  }
  return needs;
}

}  // namespace

bool simplify(LatticeSum& sum, const Inequalities& domain) {
  while (true) {
    Tightest tightest;
    for (const Polynomial& constraint : sum.constraints) {
      if (!add_tightest(divided(constraint, domain), domain, tightest)) return false;
    }
    sum.constraints.clear();
    for (const auto& [terms, constant] : tightest) {
      Polynomial& constraint = sum.constraints.emplace_back(constant);
      for (const auto& [monomial, coefficient] : terms) constraint.add_term(monomial, coefficient);
    }
    bool contradiction = false;
    const auto forced = forced_value(tightest, contradiction);
    if (contradiction) return false;
    if (!forced) return true;
    for (Polynomial& constraint : sum.constraints) {
      constraint = substitute(constraint, forced->first, forced->second);
    }
    sum.value = substitute(sum.value, forced->first, forced->second);
    std::erase(sum.variables, forced->first);
  }
}

Choice choose_variable(const LatticeSum& sum) {
  Choice best;
  std::optional<mpz_class> best_cost;
  for (auto variable = sum.variables.rbegin(); variable != sum.variables.rend(); ++variable) {
    const Needs needs = needs_of(*variable, sum.constraints);
    if (needs.entangled) {
      if (!best_cost) best.constraint = needs.entangling;
      continue;
    }
    const bool direct = needs.cases == 1;
    if (best.kind == Choice::Kind::kSumOut && !direct) continue;
    const mpz_class cost = direct ? mpz_class(needs.bounds[0] * needs.bounds[1]) : needs.cases;
    const bool better_kind = direct && best.kind != Choice::Kind::kSumOut;
    if (best_cost && !better_kind && cost >= *best_cost) continue;
    best_cost = cost;
    best.kind = direct ? Choice::Kind::kSumOut : Choice::Kind::kSplitRemainders;
    best.variable = direct ? *variable : *needs.first;
    best.modulus = needs.modulus;
  }
  return best;
}

Cut cut_at(const Polynomial& polynomial, const Inequalities& domain) {
  const auto [loops, rest] = parts_of(polynomial);
  const Polynomial factor = loops.is_zero() ? Polynomial(1) : positive_factor(loops, domain);
  if (factor == Polynomial(1)) return {polynomial, -polynomial - 1};
  const Polynomial quotient = divide(loops, factor, /*whole=*/true).quotient;
  if (loops.terms().begin()->second < 0) {  // positive exactly where quotient + ceil(...) is
    const Polynomial bound = quotient + ceil_quotient(rest, factor);
    return {bound - 1, -bound};
  }
  const Polynomial bound = quotient + floor_quotient(rest, factor);
  return {bound, -bound - 1};
}

}  // namespace flashlab::toy::detail
