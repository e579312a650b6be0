// Which values of which programs are the same floats, whatever the inputs: local value numbering.
//
// Unlike a NormalForm this knows rounding and range. Two values have one number when the same
// operations made them from the same operands; sums, products and maxima in either order; a maximum
// of several however it is bracketed; and where an operation cannot change a float (a + 0, a - 0,
// a x 1, a / 1, max(a, a), max(a, -inf), 0 x a, 0 / a, -inf + a, -inf - a). Copies are what they
// copy. Zeros of either sign count as one, and what is an error at the step where it is born (0 x
// -inf) equals whatever it would be otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace flashlab::toy {

using ValueNumber = std::uint32_t;
inline constexpr ValueNumber kNoValue = 0;  // nobody wrote it

/// What an operation is made of, and its number. Programs are compared within one table.
class ValueTable {
 public:
  enum class Op : std::uint8_t {
    kInput,
    kConstant,
    kSum,
    kDifference,
    kProduct,
    kQuotient,
    kMaximum,
    kExponential,
    kLogarithm,
  };

  ValueNumber input(const std::string& array, std::int64_t element);
  ValueNumber constant(float value);
  ValueNumber operation(Op op, ValueNumber a, ValueNumber b = kNoValue);

 private:
  ValueNumber number(Op op, std::vector<std::uint32_t> parts);
  std::optional<float> constant_of(ValueNumber value) const;
  std::optional<ValueNumber> folded(Op op, ValueNumber a, ValueNumber b);
  ValueNumber maximum(ValueNumber a, ValueNumber b);

  struct Entry {
    Op op = Op::kInput;
    std::vector<std::uint32_t> parts;  // numbers; a constant's bits; an input's array and element
  };
  std::vector<Entry> entries_{1};  // by number; the first stands for what nobody wrote
  std::map<std::pair<Op, std::vector<std::uint32_t>>, ValueNumber> numbers_;
  std::map<std::string, std::uint32_t> arrays_;
};

/// What every step of a program computed.
struct NumberedRun {
  std::vector<ValueNumber> results;  // by step: what it wrote
  std::vector<ValueNumber> dram;     // at the end, by element
};

/// Executes an unrolled program on numbers. Inputs are known by array name and element, so that
/// programs with the same input arrays can be compared. Nothing when a register or cell that nobody
/// wrote is read.
std::optional<NumberedRun> run_numbers(const BoundProgram& program, const UnrolledProgram& unrolled,
                                       ValueTable& table);

}  // namespace flashlab::toy
