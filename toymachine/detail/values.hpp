// What a register can hold, for the number types. A register or cell that nobody wrote is NaN:
// NaN is an error where it is born, so it can stand for nothing else.
#pragma once

#include <cmath>
#include <limits>

#include "toymachine/detail/exponential.hpp"

namespace flashlab::toy::detail {

inline float maximum(float a, float b) { return a > b ? a : b; }
inline double maximum(double a, double b) { return a > b ? a : b; }

/// The value of a register or cell before its first write. Other value types specialise this.
template <class Value>
struct ValueTraits {
  static Value unwritten() { return std::numeric_limits<Value>::quiet_NaN(); }
  static bool is_written(const Value& value) { return value == value; }
  /// False for +inf and NaN, which are errors at the step where they are born; -inf is legal.
  static bool is_legal(const Value& value) {
    return value < std::numeric_limits<Value>::infinity();
  }
  static double number(const Value& value) { return static_cast<double>(value); }
};

}  // namespace flashlab::toy::detail
