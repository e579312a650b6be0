// The errors of a run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/shape.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// Where a run failed: the step, and the values of the loops around it.
struct RunPlace {
  const BoundProgram* program = nullptr;
  const BoundInstruction* instruction = nullptr;
  std::uint64_t step = 0;
  const std::int64_t* loop_values = nullptr;
};

/// Operand `position` reads a register or a cell that was never written.
Diagnostic unwritten_error(const RunPlace& place, std::size_t position);
/// The result is +inf or NaN.
Diagnostic illegal_error(const RunPlace& place, double result);
/// The same, in one element of a tile.
struct TileElement {
  std::int64_t row = 0, column = 0;
  double value = 0;
};
Diagnostic illegal_error(const RunPlace& place, const TileElement& element);
/// The shapes of the operands that are read, by position, do not match each other, or not the cell
/// that is written.
Diagnostic misfit_error(const RunPlace& place, const std::array<Shape, kMaxOperands>& shapes,
                        const Shape& cell);
/// Operand `position` names a register or a cell that does not exist.
Diagnostic range_error(const RunPlace& place, std::size_t position);
/// Operand `position` is no other machine.
Diagnostic no_link_error(const RunPlace& place, std::size_t position);
/// A message of this shape and type does not fit the cell that the instruction names.
Diagnostic message_error(const RunPlace& place, const Shape& message, ElementType type,
                         const Shape& cell);
/// A message in a run of one machine.
Diagnostic one_machine_error(const RunPlace& place);
/// More steps, or more loop iterations, than Limits::max_steps.
Diagnostic steps_error(const Limits& limits, const std::string& wanted);

}  // namespace flashlab::toy::detail
