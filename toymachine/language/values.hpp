// The contents of a register, for the number types. An unwritten register or cell is NaN. This is
// unambiguous, because a result of NaN is an error at its step.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "toymachine/language/exponential.hpp"

namespace flashlab::toy::detail {

inline constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: exact up to here

inline float maximum(float a, float b) { return a > b ? a : b; }
inline double maximum(double a, double b) { return a > b ? a : b; }

template <class Number>
requires std::is_floating_point_v<Number> Number product(Number a, Number b) { return a * b; }
template <class Number>
requires std::is_floating_point_v<Number> Number logarithm(Number a) { return std::log(a); }
template <class Number>
requires std::is_floating_point_v<Number> Number row_maximum(Number a) { return a; }
template <class Number>
requires std::is_floating_point_v<Number> Number row_sum(Number a) { return a; }
/// Causal mask: a key after the query is hidden.
template <class Number>
requires std::is_floating_point_v<Number> Number masked(Number a, std::int64_t row,
                                                        std::int64_t column) {
  return column > row ? -std::numeric_limits<Number>::infinity() : a;
}
/// Left edge of a window: a key before the first one of the query's window is hidden.
template <class Number>
requires std::is_floating_point_v<Number> Number masked_left(Number a, std::int64_t row,
                                                             std::int64_t column) {
  return column < row ? -std::numeric_limits<Number>::infinity() : a;
}

/// The value of a register or cell before its first write. Other value types specialise this.
template <class Value>
struct ValueTraits {
  using Cell = Value;  // the type of a DRAM element
  struct Access {};    // data on an instruction's operands besides the slots
  static constexpr bool kTiles = false;
  static Value unwritten() { return std::numeric_limits<Value>::quiet_NaN(); }
  static Value constant(double value) { return static_cast<Value>(value); }
  static Value copy(const Value& value) { return value; }
  static bool is_written(const Value& value) { return value == value; }
  /// False for +inf and NaN, which are errors at the step that computes them; -inf is legal.
  static bool is_legal(const Value& value) {
    return value < std::numeric_limits<Value>::infinity();
  }
  static double number(const Value& value) { return static_cast<double>(value); }
};

}  // namespace flashlab::toy::detail
