// Quotients of polynomials, computed within bounds: what is typed by anybody must not take all
// memory. "Too large" means more than 200 terms, degree 256 or coefficients of 4096 bits.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// Arithmetic with a budget. Every result is in lowest terms as far as numbers and powers of single
/// quantities go; nothing when it, or all work together, is too large.
class RationalArithmetic {
 public:
  using Optional = std::optional<RationalFunction>;

  Optional add(const RationalFunction& a, const RationalFunction& b);
  Optional multiply(const RationalFunction& a, const RationalFunction& b);
  /// The divisor is not 0.
  Optional divide(const RationalFunction& a, const RationalFunction& b);
  Optional power(const RationalFunction& base, unsigned exponent);
  /// Quantities take whole values, and denominators are at least 1 where the formula is used.
  Optional floor(const RationalFunction& value);
  Optional ceil(const RationalFunction& value);

 private:
  std::optional<toy::Polynomial> product(const toy::Polynomial& a, const toy::Polynomial& b);
  Optional reduced(const toy::Polynomial& numerator, const toy::Polynomial& denominator);

  std::size_t work_left_ = 200'000;  // products of two terms: some tenths of a second
};

RationalFunction negated(const RationalFunction& value);

/// Whether a/b tends to 1 as all quantities grow together (n = t n0, d = t d0, …, t to infinity):
/// the parts of highest degree are equal. floor(x) and ceil(x) count as x where x itself grows, and
/// as a quantity of degree 0 where it does not. Formulas too large for this are not equal.
bool equal_to_leading_order(const RationalFunction& a, const RationalFunction& b);

/// a/b where that is a number; b is not 0.
std::optional<mpq_class> constant_ratio(const RationalFunction& a, const RationalFunction& b);

/// Nothing where the formula is not defined: a denominator is 0, or below 1 inside ceil or floor.
std::optional<mpq_class> value_at(const RationalFunction& formula, const Size& size);

/// As parse_formula reads it.
std::string to_string(const RationalFunction& formula);
/// "12", "1/3".
std::string to_string(const mpq_class& number);

}  // namespace flashlab::exercises
