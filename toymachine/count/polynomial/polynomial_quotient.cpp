// Division of polynomials, and the floors and ceilings that remain in formulas.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "toymachine/count/polynomial/polynomial.hpp"
#include "toymachine/count/polynomial/polynomial_parts.hpp"

namespace flashlab::toy {
namespace {

using detail::floor_of;
using detail::total_degree;
using StoredTerm = std::pair<const Monomial, mpq_class>;

/// Higher degree first, then the power of the first atom in which they differ. Under this order a
/// product's leading monomial is the product of the leading monomials, so that division ends.
bool leads(const Monomial& a, const Monomial& b) {
  const unsigned degree_a = total_degree(a);
  const unsigned degree_b = total_degree(b);
  if (degree_a != degree_b) return degree_a > degree_b;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].first != b[i].first) return a[i].first < b[i].first;
    if (a[i].second != b[i].second) return a[i].second > b[i].second;
  }
  return a.size() > b.size();
}

const StoredTerm& leading_term(const Polynomial& polynomial) {
  return *std::min_element(
      polynomial.terms().begin(), polynomial.terms().end(),
      [](const StoredTerm& a, const StoredTerm& b) { return leads(a.first, b.first); });
}

std::optional<Monomial> quotient(const Monomial& dividend, const Monomial& divisor) {
  Monomial result;
  std::size_t next = 0;
  for (const auto& [atom, exponent] : dividend) {
    unsigned left = exponent;
    if (next < divisor.size() && divisor[next].first == atom) {
      if (divisor[next].second > left) return std::nullopt;
      left -= divisor[next++].second;
    }
    if (left > 0) result.emplace_back(atom, left);
  }
  if (next < divisor.size()) return std::nullopt;
  return result;
}

/// Divides numerator and denominator by the numbers that all their coefficients share. The
/// numerator's constant need not share them: its remainder cannot reach the next whole number.
void reduce_content(Polynomial& numerator, Polynomial& denominator) {
  mpz_class scale = 1;
  for (const Polynomial* polynomial : {&numerator, &denominator}) {
    for (const auto& term : polynomial->terms())
      scale = lcm(scale, mpz_class(term.second.get_den()));
  }
  numerator *= scale;
  denominator *= scale;
  mpz_class shared = 0;
  for (const auto& term : denominator.terms()) shared = gcd(shared, term.second.get_num());
  for (const auto& [monomial, coefficient] : numerator.terms()) {
    if (!monomial.empty()) shared = gcd(shared, coefficient.get_num());
  }
  const mpz_class rest = floor_of(numerator.constant_term() / shared);
  numerator = (numerator - numerator.constant_term()) * mpq_class(1, shared) + rest;
  denominator *= mpq_class(1, shared);
}

/// Returns the atom if the polynomial is one atom of this kind.
std::optional<Atom> sole_atom(const Polynomial& polynomial, Atom::Kind kind) {
  const std::vector<Atom> atoms = polynomial.atoms();
  if (atoms.size() != 1 || atoms[0].kind() != kind) return std::nullopt;
  return polynomial == Polynomial(atoms[0]) ? std::optional(atoms[0]) : std::nullopt;
}

/// Leaves a constant from 0 to divisor - 1, and other coefficients as close to 0 as possible.
Division divide_by_number(const Polynomial& dividend, const mpq_class& divisor) {
  Division result;
  for (const auto& [monomial, coefficient] : dividend.terms()) {
    mpz_class whole = floor_of(coefficient / divisor);
    if (!monomial.empty() && coefficient - whole * divisor > divisor / 2) ++whole;
    result.quotient.add_term(monomial, whole);
    result.remainder.add_term(monomial, coefficient - whole * divisor);
  }
  return result;
}

}  // namespace

Division divide(const Polynomial& dividend, const Polynomial& divisor, bool whole) {
  const auto& [divisor_monomial, divisor_factor] = leading_term(divisor);
  Division result;
  Polynomial left = dividend;
  while (!left.is_zero()) {
    const auto [monomial, coefficient] = leading_term(left);
    const std::optional<Monomial> shared = quotient(monomial, divisor_monomial);
    mpq_class factor = shared ? mpq_class(coefficient / divisor_factor) : mpq_class(0);
    if (whole) factor = floor_of(factor);
    if (factor != 0) {
      Polynomial multiple;
      multiple.add_term(*shared, factor);
      result.quotient += multiple;
      left -= multiple * divisor;
    }
    // The rest of this term goes to the remainder.
    const auto place = left.terms().find(monomial);
    if (place == left.terms().end()) continue;
    const mpq_class rest = place->second;
    result.remainder.add_term(monomial, rest);
    left.add_term(monomial, -rest);
  }
  return result;
}

Polynomial floor_quotient(const Polynomial& numerator, const Polynomial& denominator) {
  Polynomial divisor = denominator;
  Polynomial dividend = numerator;
  reduce_content(dividend, divisor);
  const auto number = divisor.as_constant();
  auto [whole, rest] =
      number ? divide_by_number(dividend, *number) : divide(dividend, divisor, /*whole=*/true);
  if (rest.is_zero()) return whole;
  const mpq_class constant = rest.constant_term();
  // The constant that turns the floor into a ceiling: floor((x + d - 1)/d) = ceil(x/d), and
  // floor((x - 1)/d) = ceil(x/d) - 1 with the whole d taken out.
  const mpq_class of_ceiling = number ? mpq_class(*number - 1) : mpq_class(-1);
  const mpz_class excess = number ? 0 : 1;
  if (number && rest.as_constant()) return whole;  // 0 <= rest < divisor
  if (constant == of_ceiling) {
    const Polynomial ceiling = rest - constant;
    if (ceiling.is_zero()) return whole - excess;
    if (leading_term(ceiling).second < 0) {
      return whole - excess - floor_quotient(-ceiling, divisor);
    }
    if (const auto inner = sole_atom(ceiling, Atom::Kind::kCeilDiv)) {  // ceil(ceil(n/b)/d)
      return whole - excess + ceil_quotient(inner->numerator(), inner->denominator() * divisor);
    }
    return whole - excess + Atom(Atom::Kind::kCeilDiv, ceiling, divisor);
  }
  if (leading_term(rest).second < 0) return whole - ceil_quotient(-rest, divisor);
  if (const auto inner = sole_atom(rest, Atom::Kind::kFloorDiv)) {
    return whole + floor_quotient(inner->numerator(), inner->denominator() * divisor);
  }
  return whole + Atom(Atom::Kind::kFloorDiv, rest, divisor);
}

Polynomial ceil_quotient(const Polynomial& numerator, const Polynomial& denominator) {
  return floor_quotient(numerator + denominator - 1, denominator);
}

}  // namespace flashlab::toy
