// Local value numbering: which values of which programs are the same floats for all inputs.
//
// Unlike a NormalForm, this respects rounding and range. Two values have the same number if the
// same operations made them from the same operands. Sums, products and maxima may have their
// operands in either order, and nested maxima may be bracketed in any way; minima too. Operations that
// cannot change a float give the number of their operand (a + 0, a - 0, a x 1, a / 1, max(a, a),
// max(a, -inf), min(a, a), 0 x a, 0 / a, -inf + a, -inf - a). Copies have the number of the original. Zeros of either
// sign count as equal, and a result that is an error when it is computed (0 x -inf) counts as equal
// to what it would otherwise be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/operations.hpp"

namespace flashlab::toy {

using ValueNumber = std::uint32_t;
inline constexpr ValueNumber kNoValue = 0;  // never written

/// The operations with their operands, and their numbers. Programs can be compared
/// within one table.
class ValueTable {
 public:
  ValueNumber input(const std::string& array, std::int64_t element);
  ValueNumber constant(float value);
  /// Of one to three scalars.
  ValueNumber operation(Operation operation, ValueNumber a, ValueNumber b = kNoValue,
                        ValueNumber c = kNoValue);

 private:
  enum class Kind : std::uint8_t { kInput, kConstant, kOperation };
  using Made = std::pair<Kind, Operation>;  // the operation of an input or a constant is the first

  ValueNumber number(Made by, std::vector<std::uint32_t> parts);
  std::optional<float> constant_of(ValueNumber value) const;
  std::optional<ValueNumber> folded(Operation operation, ValueNumber a, ValueNumber b,
                                    ValueNumber c);
  ValueNumber set(Operation operation, ValueNumber a, ValueNumber b);

  struct Entry {
    Made by{};
    std::vector<std::uint32_t> parts;  // numbers; a constant's bits; an input's array, element
  };
  std::vector<Entry> entries_{1};  // by number; the first is for unwritten values
  std::map<std::pair<Made, std::vector<std::uint32_t>>, ValueNumber> numbers_;
  std::map<std::string, std::uint32_t> arrays_;
};

/// The numbers of the values that every step of a program computed.
struct NumberedRun {
  std::vector<ValueNumber> results;  // by step: the value that it wrote
  std::vector<ValueNumber> dram;     // at the end, by element
};

/// Executes an unrolled program on numbers. Inputs are identified by array name and element, so
/// that programs with the same input arrays can be compared. Returns nothing if a step reads a
/// register or cell that was never written.
std::optional<NumberedRun> run_numbers(const BoundProgram& program, const UnrolledProgram& unrolled,
                                       ValueTable& table);

}  // namespace flashlab::toy
