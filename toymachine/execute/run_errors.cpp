#include "toymachine/execute/run_errors.hpp"

#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace flashlab::toy::detail {
namespace {

constexpr std::array<std::string_view, 4> kTypeNames{"float", "double", "bf16", "fp16"};

std::string machine_text(const BoundProgram& program) {
  return program.machine ? "machine " + std::to_string(program.machine->rank) + ", " : "";
}

Diagnostic at(const RunPlace& place, const SourceSpan& span, const std::string& what,
              std::string expected) {
  const std::string loops = place.program->loops_text(place.instruction->loop, place.loop_values);
  const std::string in_loops = loops.empty() ? "" : " (" + loops + ")";
  return {
      Severity::kError,
      Fault::kProgram,
      span,
      machine_text(*place.program) + "step " + std::to_string(place.step) + in_loops + ": " + what,
      std::move(expected),
      {}};
}

std::string operand_text(const RunPlace& place, const BoundOperand& operand) {
  if (is_register(operand.kind)) {
    return place.program->register_name(operand.index(place.loop_values));
  }
  std::string text = place.program->arrays[operand.array].name;
  for (const Affine& axis : operand.axes) {
    text += "[" + std::to_string(axis(place.loop_values)) + "]";
  }
  return text;
}

std::string shape_text(const Shape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

Diagnostic illegal_result(const RunPlace& place, double result, const std::string& where) {
  if (std::isnan(result)) {
    return at(place, place.instruction->span, "the result is not a number (NaN)" + where,
              "operands whose result is defined");
  }
  return at(place, place.instruction->span, "the result overflows to +inf" + where,
            "a result that the machine's numbers can hold");
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
  return illegal_result(place, result, "");
}

Diagnostic illegal_error(const RunPlace& place, const TileElement& element) {
  return illegal_result(place, element.value,
                        " in row " + std::to_string(element.row) + ", column " +
                            std::to_string(element.column) + " of the tile");
}

Diagnostic misfit_error(const RunPlace& place, const std::array<Shape, kMaxOperands>& shapes,
                        const Shape& cell) {
  const BoundInstruction& instruction = *place.instruction;
  const InstructionSpec& spec = instruction_set()[instruction.row];
  std::string text;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const BoundOperand& operand = instruction.operands[i];
    if (!is_register_read(operand.kind)) continue;
    text += (text.empty() ? "" : ", ") + operand_text(place, operand) +
            (operand.transposed ? "^T" : "") + " is " + shape_text(shapes[i]);
  }
  for (const BoundOperand& operand : instruction.operands) {
    if (!is_memory(operand.kind)) continue;
    text += ", " + operand_text(place, operand) + " is " + shape_text(cell);
  }
  const bool product = spec.flop_kind == FlopKind::kProduct;
  return at(place, instruction.span, "the tiles do not fit together: " + text,
            product ? "as many columns in the first factor as rows in the second, and an addend "
                      "that fits their product"
                    : "tiles of one shape, a column of as many rows, a row of as many "
                      "columns, or a scalar");
}

Diagnostic range_error(const RunPlace& place, std::size_t position) {
  const BoundOperand& operand = place.instruction->operands[position];
  const BoundProgram& program = *place.program;
  if (is_register(operand.kind)) {
    return at(place, operand.span,
              program.missing_register(operand.index(place.loop_values), operand.register_name),
              program.existing_registers(operand.register_name));
  }
  const BoundArray& array = program.arrays[operand.array];
  std::string sizes = array.name;
  for (const std::int64_t count : array.counts) sizes += "[" + std::to_string(count) + "]";
  return at(place, operand.span, operand_text(place, operand) + " is out of range",
            "indices inside " + sizes);
}

Diagnostic no_link_error(const RunPlace& place, std::size_t position) {
  const BoundOperand& operand = place.instruction->operands[position];
  const MachineNumber& own = *place.program->machine;
  return at(place, operand.span, own.no_link_text(operand.index(place.loop_values)),
            own.links_text());
}

Diagnostic message_error(const RunPlace& place, const Shape& message, ElementType type,
                         const Shape& cell) {
  for (const BoundOperand& operand : place.instruction->operands) {
    if (!is_memory(operand.kind)) continue;
    const BoundArray& array = place.program->arrays[operand.array];
    const auto text = [](const Shape& shape, ElementType of) {
      return shape_text(shape) + " " + std::string(kTypeNames[static_cast<std::size_t>(of)]);
    };
    return at(place, operand.span,
              "the message is " + text(message, type) + ", and " + operand_text(place, operand) +
                  " is " + text(cell, array.element_type),
              "a message of the cell's shape and type");
  }
  return one_machine_error(place);
}

Diagnostic one_machine_error(const RunPlace& place) {
  return at(place, place.instruction->span, "this machine runs alone, without links",
            "all machines: flashlab run, cost, sweep, diff or timeline");
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
