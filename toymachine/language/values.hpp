// The contents of a register, for the number types. An unwritten register or cell is NaN. This is
// unambiguous, because a result of NaN is an error at its step.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "toymachine/language/exponential.hpp"
#include "toymachine/language/operations.hpp"

namespace flashlab::toy::detail {

inline constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: exact up to here

// The operations on numbers.

template <std::floating_point Number>
Number operated(OperationTag<Operation::kPlus>, Number a, Number b) {
  return a + b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kMinus>, Number a, Number b) {
  return a - b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kTimes>, Number a, Number b) {
  return a * b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kOver>, Number a, Number b) {
  return a / b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kMaximum>, Number a, Number b) {
  return a > b ? a : b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kMinimum>, Number a, Number b) {
  return a < b ? a : b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kAbsolute>, Number a) {
  return std::abs(a);
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kExponential>, Number a) {
  return exponential(a);
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kLogarithm>, Number a) {
  return std::log(a);
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kTanh>, Number a) {
  return std::tanh(a);
}
/// In a browser one by one: two floats that become doubles would be loaded by v128.load64_zero, whose
/// addresses emscripten 3.1.69 does not lower to 32 bits, and the page would not link.
template <std::floating_point Number>
double widened(Number a) {
#ifdef __EMSCRIPTEN__
  asm("" : "+r"(a));
#endif
  return a;
}

/// By way of double, so that a float is rounded once. + 0: of -0 too, the result is +inf.
template <std::floating_point Number>
Number operated(OperationTag<Operation::kReciprocalRoot>, Number a) {
  return static_cast<Number>(1 / std::sqrt(widened(a) + 0));
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kReciprocal>, Number a) {
  return 1 / (a + 0);
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kBinaryExponential>, Number a) {
  return std::exp2(a);
}
/// Unlike the natural logarithm, which is -inf at 0, it has no value there.
template <std::floating_point Number>
Number operated(OperationTag<Operation::kBinaryLogarithm>, Number a) {
  return a > 0 ? std::log2(a) : std::numeric_limits<Number>::quiet_NaN();
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kLess>, Number a, Number b) {
  return a < b ? Number{1} : Number{0};
}
/// The value that is not chosen has no effect, whatever it is: -inf too.
template <std::floating_point Number>
Number operated(OperationTag<Operation::kSelected>, Number condition, Number a, Number b) {
  return condition != 0 ? a : b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kProduct>, Number a, Number b) {
  return a * b;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kRowMaximum>, Number a) {
  return a;
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kRowSum>, Number a) {
  return a;
}
/// Causal mask: a key after the query is hidden.
template <std::floating_point Number>
Number operated(OperationTag<Operation::kMasked>, Number a, std::int64_t row, std::int64_t column) {
  return column > row ? -std::numeric_limits<Number>::infinity() : a;
}
/// Left edge of a window: a key before the first one of the query's window is hidden.
template <std::floating_point Number>
Number operated(OperationTag<Operation::kMaskedLeft>, Number a, std::int64_t row,
                std::int64_t column) {
  return column < row ? -std::numeric_limits<Number>::infinity() : a;
}

template <std::floating_point Number>
Number operated(OperationTag<Operation::kRowNumber>, Number, std::int64_t row) {
  return static_cast<Number>(row);
}
template <std::floating_point Number>
Number operated(OperationTag<Operation::kColumnNumber>, Number, std::int64_t column) {
  return static_cast<Number>(column);
}

/// Returns the operation's value on one to three numbers; those that it does not take are ignored.
/// Precondition: it is element by element.
float value_of(Operation operation, float a, float b, float c = 0);
double value_of(Operation operation, double a, double b, double c = 0);

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
