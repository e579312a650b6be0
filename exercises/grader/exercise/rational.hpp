// Quotients of polynomials, computed within limits, because untrusted input must not exhaust the
// memory. "Too large" means more than 200 terms, degree 256 or coefficients of 4096 bits.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// Arithmetic with a budget. Every result is in lowest terms with respect to numbers and powers of
/// single quantities. Returns nothing if the result, or all work together, is too large.
class RationalArithmetic {
 public:
  using Optional = std::optional<RationalFunction>;

  Optional add(const RationalFunction& a, const RationalFunction& b);
  Optional multiply(const RationalFunction& a, const RationalFunction& b);
  /// Requires a divisor other than 0.
  Optional divide(const RationalFunction& a, const RationalFunction& b);
  Optional power(const RationalFunction& base, unsigned exponent);
  /// Assumes that quantities are integers and that denominators are at least 1.
  Optional floor(const RationalFunction& value);
  Optional ceil(const RationalFunction& value);

 private:
  std::optional<toy::Polynomial> product(const toy::Polynomial& a, const toy::Polynomial& b);
  Optional reduced(const toy::Polynomial& numerator, const toy::Polynomial& denominator);

  std::size_t work_left_ = 200'000;  // products of two terms: some tenths of a second
};

RationalFunction negated(const RationalFunction& value);

/// Returns whether a/b tends to 1 as all quantities grow together (n = t n0, d = t d0, …, t to
/// infinity): the parts of highest degree are equal. floor(x) and ceil(x) count as x if x grows,
/// and as a quantity of degree 0 otherwise. Returns false for formulas that are too large.
bool equal_to_leading_order(const RationalFunction& a, const RationalFunction& b);

/// Returns a/b if it is a number. b is not 0.
std::optional<mpq_class> constant_ratio(const RationalFunction& a, const RationalFunction& b);

/// Returns the value, or nothing if the formula is not defined: a denominator is 0, or below 1
/// inside ceil or floor.
std::optional<mpq_class> value_at(const RationalFunction& formula, const Size& size);

/// Formats a formula so that parse_formula can read it.
std::string to_string(const RationalFunction& formula);
/// "12", "1/3".
std::string to_string(const mpq_class& number);

}  // namespace flashlab::exercises
