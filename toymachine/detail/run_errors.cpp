#include "toymachine/detail/run_errors.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace flashlab::toy::detail {
namespace {

std::string loops_text(const RunPlace& place) {
  std::vector<std::uint32_t> around;
  for (std::uint32_t l = place.instruction->loop; l != kNoLoop;
       l = place.program->loops[l].parent) {
    around.insert(around.begin(), l);
  }
  std::string text;
  for (const std::uint32_t l : around) {
    text += (text.empty() ? "" : ", ") + place.program->loops[l].var + " = " +
            std::to_string(place.loop_values[l]);
  }
  return text.empty() ? "" : " (" + text + ")";
}

Diagnostic at(const RunPlace& place, const SourceSpan& span, const std::string& what,
              std::string expected) {
  return {Severity::kError,
          Fault::kProgram,
          span,
          "step " + std::to_string(place.step) + loops_text(place) + ": " + what,
          std::move(expected),
          {}};
}

std::string operand_text(const RunPlace& place, const BoundOperand& operand) {
  if (is_register(operand.kind)) {
    return "R" + std::to_string(operand.index(place.loop_values));
  }
  std::string text = place.program->arrays[operand.array].name;
  for (const Affine& axis : operand.axes) {
    text += "[" + std::to_string(axis(place.loop_values)) + "]";
  }
  return text;
}

}  // namespace

Diagnostic unwritten_error(const RunPlace& place, std::size_t position) {
  const BoundOperand& operand = place.instruction->operands[position];
  return at(place, operand.span,
            operand_text(place, operand) + " is read, but nothing was written there",
            is_register(operand.kind) ? "a register that an earlier step wrote"
                                      : "a cell of an input, or one that an earlier step stored");
}

Diagnostic illegal_error(const RunPlace& place, double result) {
  if (std::isnan(result)) {
    return at(place, place.instruction->span, "the result is not a number (NaN)",
              "operands whose result is defined");
  }
  return at(place, place.instruction->span, "the result overflows to +inf",
            "a result that the machine's numbers can hold");
}

Diagnostic range_error(const RunPlace& place, std::size_t position) {
  const BoundOperand& operand = place.instruction->operands[position];
  const BoundProgram& program = *place.program;
  if (is_register(operand.kind)) {
    return at(place, operand.span, "there is no register " + operand_text(place, operand),
              "R0 to R" + std::to_string(program.num_registers - 1));
  }
  const BoundArray& array = program.arrays[operand.array];
  std::string sizes = array.name;
  for (const std::int64_t extent : array.extents) sizes += "[" + std::to_string(extent) + "]";
  return at(place, operand.span, operand_text(place, operand) + " is out of range",
            "indices inside " + sizes);
}

Diagnostic steps_error(const Limits& limits, const std::string& wanted) {
  return {Severity::kError,
          Fault::kLimit,
          {},
          wanted,
          "at most " + std::to_string(limits.max_steps) + " (--max-steps); 'cost' needs no steps",
          {}};
}

}  // namespace flashlab::toy::detail
