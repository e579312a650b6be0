#include "toymachine/count/inequalities.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "toymachine/count/polynomial/polynomial_parts.hpp"

namespace flashlab::toy::detail {
namespace {

bool is_quotient(const Atom& atom) { return atom.kind() != Atom::Kind::kSymbol; }

/// Adds the definition of a quotient: d * ceil(n/d) is between n and n + d - 1.
void add_quotient_facts(const Atom& atom, std::vector<Polynomial>& facts) {
  const Polynomial multiple = atom.denominator() * atom;
  const Polynomial excess = atom.kind() == Atom::Kind::kCeilDiv ? multiple - atom.numerator()
                                                                : atom.numerator() - multiple;
  facts.push_back(excess);
  facts.push_back(atom.denominator() - 1 - excess);
  if (!obviously_nonnegative(atom.numerator())) return;
  facts.emplace_back(atom);
  facts.push_back(atom.numerator() - atom);
}

std::set<Atom> atoms_of(const std::vector<Polynomial>& polynomials) {
  std::set<Atom> atoms;
  for (const Polynomial& polynomial : polynomials) {
    for (const Atom& atom : polynomial.atoms()) atoms.insert(atom);
  }
  return atoms;
}

/// Unknowns whose products with parameters matter: loop variables and quotients with
/// parameters as divisors.
bool is_multiplied(const Atom& atom) {
  return is_loop_atom(atom) || (is_quotient(atom) && !atom.denominator().as_constant());
}

/// Returns the factors of such unknowns in products: the B of B*i, for each such i.
std::map<Atom, std::set<Monomial>> factors_of_unknowns(const std::vector<Polynomial>& known) {
  std::map<Atom, std::set<Monomial>> factors;
  for (const Polynomial& polynomial : known) {
    for (const auto& term : polynomial.terms()) {
      const Monomial& monomial = term.first;
      if (monomial.size() < 2) continue;
      for (std::size_t i = 0; i < monomial.size(); ++i) {
        if (!is_multiplied(monomial[i].first)) continue;
        Monomial rest = monomial;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        factors[monomial[i].first].insert(rest);
      }
    }
  }
  return factors;
}

bool is_linear(const Polynomial& polynomial) {
  for (const auto& term : polynomial.terms()) {
    if (term.first.size() > 1 || (term.first.size() == 1 && term.first[0].second > 1)) return false;
  }
  return true;
}

/// i <= T - 1 implies more about B*i after multiplication by B.
void add_products(std::vector<Polynomial>& facts) {
  const auto factors = factors_of_unknowns(facts);
  if (factors.empty()) return;
  std::vector<Polynomial> products;
  for (const Polynomial& fact : facts) {
    if (!is_linear(fact)) continue;
    std::set<Monomial> multipliers;
    for (const Atom& atom : fact.atoms()) {
      if (const auto place = factors.find(atom); place != factors.end()) {
        multipliers.insert(place->second.begin(), place->second.end());
      }
    }
    for (const Monomial& multiplier : multipliers) {
      Polynomial factor;
      factor.add_term(multiplier, 1);
      if (obviously_nonnegative(factor)) products.push_back(fact * factor);
    }
  }
  facts.insert(facts.end(), products.begin(), products.end());
}

bool is_nonnegative(const Monomial& monomial) {
  return std::all_of(monomial.begin(), monomial.end(), [](const auto& factor) {
    return factor.second % 2 == 0 || obviously_nonnegative(factor.first);
  });
}

bool solvable(std::vector<Polynomial> facts) {
  for (const Atom& atom : atoms_of(facts)) {
    if (is_quotient(atom)) add_quotient_facts(atom, facts);
  }
  add_products(facts);
  std::map<Monomial, std::size_t> columns;
  for (const Polynomial& fact : facts) {
    for (const auto& term : fact.terms()) {
      if (!term.first.empty()) columns.try_emplace(term.first, columns.size() + 1);
    }
  }
  std::vector<std::vector<mpq_class>> rows;
  for (const Polynomial& fact : facts) {
    std::vector<mpq_class>& row = rows.emplace_back(columns.size() + 1);
    for (const auto& [monomial, coefficient] : fact.terms()) {
      row[monomial.empty() ? 0 : columns[monomial]] = coefficient;
    }
  }
  for (const auto& [monomial, column] : columns) {
    if (!is_nonnegative(monomial)) continue;
    rows.emplace_back(columns.size() + 1)[column] = 1;
  }
  return has_rational_solution(rows);
}

/// Returns the condition without the first quotient that is a term of its own, with factor 1 or -1.
std::optional<Polynomial> without_first_quotient(const Polynomial& nonnegative) {
  for (const auto& [monomial, coefficient] : nonnegative.terms()) {
    if (monomial.size() != 1 || monomial[0].second != 1 || abs(coefficient) != 1) continue;
    const Atom& atom = monomial[0].first;
    if (!is_quotient(atom) || nonnegative.degree(atom) != 1) continue;
    const Polynomial own = Polynomial(atom) * coefficient;
    if (!(nonnegative.coefficient(atom, 1) == Polynomial(coefficient))) continue;
    const Polynomial rest = nonnegative - own;  // atom >= -rest, or atom <= rest
    const Polynomial& n = atom.numerator();
    const Polynomial& d = atom.denominator();
    const bool is_ceil = atom.kind() == Atom::Kind::kCeilDiv;
    if (coefficient > 0) return is_ceil ? n - d * (-rest - 1) - 1 : n + d * rest;
    return is_ceil ? d * rest - n : d * (rest + 1) - n - 1;
  }
  return std::nullopt;
}

}  // namespace

Atom loop_atom(std::size_t number) { return Atom(std::string("#").append(std::to_string(number))); }

bool is_loop_atom(const Atom& atom) { return atom.key()[0] == '#'; }

bool has_loop_atom(const Polynomial& polynomial) {
  for (const auto& term : polynomial.terms()) {
    for (const auto& factor : term.first) {
      if (is_loop_atom(factor.first)) return true;
    }
  }
  return false;
}

bool obviously_nonnegative(const Polynomial& polynomial) {
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    if (coefficient < 0) return false;
    for (const auto& [atom, exponent] : monomial) {
      if (is_loop_atom(atom)) return false;
      if (is_quotient(atom) && !obviously_nonnegative(atom.numerator())) return false;
    }
  }
  return true;
}

Polynomial tightened(const Polynomial& nonnegative) {
  mpz_class scale = 1;
  for (const auto& term : nonnegative.terms()) {
    scale = lcm(scale, mpz_class(term.second.get_den()));
  }
  mpz_class shared = 0;
  for (const auto& [monomial, coefficient] : nonnegative.terms()) {
    if (!monomial.empty()) shared = gcd(shared, mpz_class(coefficient * scale));
  }
  if (shared == 0 || (shared == 1 && scale == 1)) return nonnegative;
  mpq_class factor(scale, shared);
  factor.canonicalize();  // 1/2 can make both 2
  Polynomial result;
  for (const auto& [monomial, coefficient] : nonnegative.terms()) {
    const mpq_class product = coefficient * factor;
    result.add_term(monomial, monomial.empty() ? mpq_class(floor_of(product)) : product);
  }
  return result;
}

Polynomial without_quotients(const Polynomial& nonnegative) {
  Polynomial result = tightened(nonnegative);
  while (const auto plainer = without_first_quotient(result)) result = tightened(*plainer);
  return result;
}

bool Inequalities::implies(const Polynomial& polynomial) const {
  return implies_goal(has_loop_atom(polynomial) ? tightened(polynomial)
                                                : without_quotients(polynomial));
}

bool Inequalities::implies_as_it_stands(const Polynomial& polynomial) const {
  return implies_goal(tightened(polynomial));
}

bool Inequalities::implies_goal(const Polynomial& goal) const {
  if (const auto constant = goal.as_constant(); constant && *constant >= 0) return true;
  if (obviously_nonnegative(goal)) return true;
  for (const Polynomial& fact : known_) {
    const auto excess = (goal - fact).as_constant();
    if (excess && *excess >= 0) return true;
  }
  std::vector<Polynomial> facts = known_;
  facts.push_back(-goal - 1);
  return !solvable(std::move(facts));
}

bool Inequalities::contradictory() const { return !solvable(known_); }

}  // namespace flashlab::toy::detail
