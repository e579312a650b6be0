// Exact rational numbers, fast while they are small: two words, and GMP only if they do not fit.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace flashlab::toy::detail {

/// Immutable; equal values have equal representations.
class Rational {
 public:
  Rational(std::int64_t value = 0) : numerator_(value) { widen_smallest(); }  // NOLINT: a number
  explicit Rational(const mpq_class& value);
  /// Every finite double is a rational number.
  static Rational of(double value);

  bool is_zero() const { return !big_ && numerator_ == 0; }
  bool is_one() const { return !big_ && numerator_ == 1 && denominator_ == 1; }
  bool is_integer() const;
  int sign() const;
  /// Binary digits of the larger of numerator and denominator.
  std::size_t bits() const;
  mpq_class value() const;
  /// The value in the field of integers modulo a prime; the caller inverts the denominator.
  std::uint64_t numerator_modulo(std::uint64_t prime) const;
  std::uint64_t denominator_modulo(std::uint64_t prime) const;

  Rational operator-() const;
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b) { return a + -b; }
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);  // b is not 0
  friend bool operator==(const Rational& a, const Rational& b);
  friend bool operator<(const Rational& a, const Rational& b) { return (a - b).sign() < 0; }

 private:
  Rational(std::int64_t numerator, std::int64_t denominator);
  void widen_smallest();  // the smallest word has no negative

  std::int64_t numerator_ = 0, denominator_ = 1;  // in lowest terms; the denominator is positive
  std::shared_ptr<const mpq_class> big_;          // if these do not fit
};

/// "3", "-1/3"; as a decimal if that is exact and shorter: "0.7071067811865476".
std::string to_string(const Rational& number);

}  // namespace flashlab::toy::detail
