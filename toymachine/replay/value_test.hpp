// A comparison of a register or cell with a number.
#pragma once

#include <cstdint>

namespace flashlab::toy {

struct ValueTest {
  enum class Op : std::uint8_t { kLess, kAtMost, kGreater, kAtLeast, kEqual, kUnequal };
  Op op = Op::kGreater;
  double value = 0;

  /// Compares in the type of the machine's numbers, to which `value` is rounded: R0 == 0.1 can hold
  /// in float. Nothing holds for an unwritten value, which is NaN.
  template <class Number>
  bool operator()(Number number) const {
    const auto bound = static_cast<Number>(value);
    switch (op) {
      case Op::kLess:
        return number < bound;
      case Op::kAtMost:
        return number <= bound;
      case Op::kGreater:
        return number > bound;
      case Op::kAtLeast:
        return number >= bound;
      case Op::kEqual:
        return number == bound;
      case Op::kUnequal:
        return number < bound || number > bound;
    }
    return false;
  }
};

/// Returns for how many of the numbers the test holds.
template <class Number>
std::int64_t count_holding(const ValueTest& test, const Number* numbers, std::int64_t count) {
  std::int64_t holding = 0;
  const auto add_up = [&](const auto& holds) {
    for (std::int64_t i = 0; i < count; ++i) holding += holds(numbers[i]) ? 1 : 0;
  };
  const auto bound = static_cast<Number>(test.value);
  switch (test.op) {  // one loop for each comparison, so that compilers vectorise it
    case ValueTest::Op::kLess:
      add_up([bound](Number number) { return number < bound; });
      break;
    case ValueTest::Op::kAtMost:
      add_up([bound](Number number) { return number <= bound; });
      break;
    case ValueTest::Op::kGreater:
      add_up([bound](Number number) { return number > bound; });
      break;
    case ValueTest::Op::kAtLeast:
      add_up([bound](Number number) { return number >= bound; });
      break;
    case ValueTest::Op::kEqual:
      add_up([bound](Number number) { return number == bound; });
      break;
    case ValueTest::Op::kUnequal:
      add_up([bound](Number number) { return number < bound || number > bound; });
      break;
  }
  return holding;
}

}  // namespace flashlab::toy
