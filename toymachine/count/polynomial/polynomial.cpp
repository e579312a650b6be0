#include "toymachine/count/polynomial/polynomial.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "toymachine/budget/budget.hpp"

namespace flashlab::toy {

struct Atom::Data {
  Kind kind = Kind::kSymbol;
  std::string key;
  Polynomial numerator, denominator;
};

Atom::Atom(std::string symbol)
    : data_(std::make_shared<Data>(Data{Kind::kSymbol, std::move(symbol), {}, {}})) {}

Atom::Atom(Kind kind, const Polynomial& numerator, const Polynomial& denominator) {
  data_ = std::make_shared<Data>(
      Data{kind, quotient_text(kind, numerator, denominator, {}), numerator, denominator});
}

Atom::Kind Atom::kind() const { return data_->kind; }
const std::string& Atom::key() const { return data_->key; }
const Polynomial& Atom::numerator() const { return data_->numerator; }
const Polynomial& Atom::denominator() const { return data_->denominator; }

std::strong_ordering Atom::operator<=>(const Atom& other) const {
  if (data_ == other.data_) return std::strong_ordering::equal;
  return data_->key.compare(other.data_->key) <=> 0;
}

Polynomial::Polynomial(const mpq_class& value) {
  if (value != 0) terms_.emplace(Monomial(), value);
}

Polynomial::Polynomial(const Atom& atom) { terms_.emplace(Monomial{{atom, 1}}, 1); }

std::optional<mpq_class> Polynomial::as_constant() const {
  if (terms_.empty()) return mpq_class(0);
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

mpq_class Polynomial::constant_term() const {
  // The empty monomial sorts first.
  if (terms_.empty() || !terms_.begin()->first.empty()) return 0;
  return terms_.begin()->second;
}

namespace {

unsigned exponent_of(const Monomial& monomial, const Atom& atom) {
  for (const auto& [factor, exponent] : monomial) {
    if (factor == atom) return exponent;
  }
  return 0;
}

Monomial without(const Monomial& monomial, const Atom& atom) {
  Monomial rest;
  for (const auto& factor : monomial) {
    if (factor.first != atom) rest.push_back(factor);
  }
  return rest;
}

Monomial monomial_product(const Monomial& a, const Monomial& b) {
  Monomial result;
  result.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    const auto order = left->first <=> right->first;
    if (std::is_lt(order)) {
      result.push_back(*left++);
    } else if (std::is_gt(order)) {
      result.push_back(*right++);
    } else {
      result.emplace_back(left->first, left->second + right->second);
      ++left, ++right;
    }
  }
  result.insert(result.end(), left, a.end());
  result.insert(result.end(), right, b.end());
  return result;
}

}  // namespace

unsigned Polynomial::degree(const Atom& atom) const {
  unsigned degree = 0;
  for (const auto& term : terms_) degree = std::max(degree, exponent_of(term.first, atom));
  return degree;
}

Polynomial Polynomial::coefficient(const Atom& atom, unsigned power) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    if (exponent_of(monomial, atom) == power) result.add_term(without(monomial, atom), factor);
  }
  return result;
}

std::vector<Atom> Polynomial::atoms() const {
  std::set<Atom> found;
  for (const auto& term : terms_) {
    for (const auto& factor : term.first) found.insert(factor.first);
  }
  return {found.begin(), found.end()};
}

void Polynomial::add_term(const Monomial& monomial, const mpq_class& coefficient) {
  const auto [place, is_new] = terms_.try_emplace(monomial, coefficient);
  if (!is_new) place->second += coefficient;
  if (place->second == 0) terms_.erase(place);
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  if (this == &other) return *this *= Polynomial(2);
  for (const auto& [monomial, coefficient] : other.terms_) add_term(monomial, coefficient);
  return *this;
}

Polynomial& Polynomial::operator-=(const Polynomial& other) {
  if (this == &other) return *this = Polynomial();
  for (const auto& [monomial, coefficient] : other.terms_) add_term(monomial, -coefficient);
  return *this;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  constexpr std::int64_t kWorkOfTerm = 10;  // in units of check_budget
  Polynomial result;
  for (const auto& [left, left_factor] : a.terms_) {
    for (const auto& [right, right_factor] : b.terms_) {
      check_budget(kWorkOfTerm);
      result.add_term(monomial_product(left, right), left_factor * right_factor);
    }
  }
  return result;
}

Polynomial power(const Polynomial& base, unsigned exponent) {
  Polynomial result = 1;
  for (unsigned i = 0; i < exponent; ++i) result *= base;
  return result;
}

namespace {

/// The sum of coefficients[k] * x^k at x = value.
Polynomial horner(const std::vector<Polynomial>& coefficients, const Polynomial& value) {
  Polynomial result;
  for (std::size_t k = coefficients.size(); k-- > 0;) result = result * value + coefficients[k];
  return result;
}

std::vector<Polynomial> coefficients_in(const Polynomial& polynomial, const Atom& atom) {
  std::vector<Polynomial> result(polynomial.degree(atom) + 1);
  for (const auto& [monomial, factor] : polynomial.terms()) {
    result[exponent_of(monomial, atom)].add_term(without(monomial, atom), factor);
  }
  return result;
}

/// Returns B_0, B_1 = -1/2, …, with which the sum of k^p over k = 0 … x - 1 is sum_j binomial(p +
/// 1, j) B_j x^(p + 1 - j) / (p + 1).
std::vector<mpq_class> bernoulli_numbers(std::size_t count) {
  std::vector<mpq_class> numbers(count);
  for (std::size_t m = 0; m < count; ++m) {
    mpq_class sum = m == 0 ? -1 : 0;
    for (std::size_t k = 0; k < m; ++k) {
      mpz_class binomial;
      mpz_bin_uiui(binomial.get_mpz_t(), m + 1, k);
      sum += binomial * numbers[k];
    }
    numbers[m] = -sum / mpq_class(mpz_class(m + 1));
  }
  return numbers;
}

}  // namespace

Polynomial sum_over(const Polynomial& summand, const Atom& atom, const Polynomial& lower,
                    const Polynomial& upper) {
  const std::vector<Polynomial> powers = coefficients_in(summand, atom);
  const std::vector<mpq_class> bernoulli = bernoulli_numbers(powers.size());
  std::vector<Polynomial> antidifference(powers.size() + 1);
  for (std::size_t p = 0; p < powers.size(); ++p) {
    for (std::size_t j = 0; j <= p; ++j) {
      mpz_class binomial;
      mpz_bin_uiui(binomial.get_mpz_t(), p + 1, j);
      const mpq_class factor = binomial * bernoulli[j] / mpz_class(p + 1);
      antidifference[p + 1 - j] += powers[p] * factor;
    }
  }
  return horner(antidifference, upper + 1) - horner(antidifference, lower);
}

namespace {

Polynomial substituted_atom(const Atom& part, const Atom& atom, const Polynomial& value) {
  if (part == atom) return value;
  if (part.kind() == Atom::Kind::kSymbol) return part;
  const Polynomial numerator = substitute(part.numerator(), atom, value);
  const Polynomial denominator = substitute(part.denominator(), atom, value);
  if (numerator == part.numerator() && denominator == part.denominator()) return part;
  return part.kind() == Atom::Kind::kFloorDiv ? floor_quotient(numerator, denominator)
                                              : ceil_quotient(numerator, denominator);
}

}  // namespace

Polynomial substitute(const Polynomial& polynomial, const Atom& atom, const Polynomial& value) {
  // Replaces all atoms at once, because a replaced quotient may contain the atom again.
  std::map<Atom, Polynomial> replaced;
  for (const Atom& part : polynomial.atoms()) {
    const Polynomial replacement = substituted_atom(part, atom, value);
    if (!(replacement == Polynomial(part))) replaced.emplace(part, replacement);
  }
  if (replaced.empty()) return polynomial;
  Polynomial result;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    Monomial kept;
    Polynomial factor = coefficient;
    for (const auto& [part, exponent] : monomial) {
      const auto place = replaced.find(part);
      if (place == replaced.end()) {
        kept.emplace_back(part, exponent);
      } else {
        factor *= power(place->second, exponent);
      }
    }
    Polynomial rest;
    rest.add_term(kept, 1);
    result += rest * factor;
  }
  return result;
}

std::optional<mpq_class> evaluate(const Polynomial& polynomial, const SymbolValues& lookup) {
  mpq_class sum = 0;
  std::map<Atom, mpq_class> values;
  for (const Atom& atom : polynomial.atoms()) {
    if (atom.kind() == Atom::Kind::kSymbol) {
      const std::optional<mpz_class> value = lookup(atom.key());
      if (!value) return std::nullopt;
      values[atom] = *value;
      continue;
    }
    const auto numerator = evaluate(atom.numerator(), lookup);
    const auto denominator = evaluate(atom.denominator(), lookup);
    if (!numerator || !denominator || *denominator < 1) return std::nullopt;
    const mpq_class quotient = *numerator / *denominator;
    mpz_class rounded;
    (atom.kind() == Atom::Kind::kFloorDiv ? mpz_fdiv_q : mpz_cdiv_q)(
        rounded.get_mpz_t(), quotient.get_num_mpz_t(), quotient.get_den_mpz_t());
    values[atom] = rounded;
  }
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    mpq_class term = coefficient;
    for (const auto& [atom, exponent] : monomial) {
      for (unsigned i = 0; i < exponent; ++i) term *= values[atom];
    }
    sum += term;
  }
  return sum;
}

}  // namespace flashlab::toy
