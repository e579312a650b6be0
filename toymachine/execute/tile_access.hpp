// The data of an instruction on tiles besides its slots: where the tile is in its array, its size
// there, and, after a failed step, the cause.
#pragma once

#include <array>
#include <cstdint>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/shape.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

struct RunPlace;
enum class Status : std::uint8_t;

/// Returns the rows and columns of the tile that the operand, a cell, names for these loop values.
Shape cell_shape(const BoundArray& array, const BoundOperand& operand,
                 const std::int64_t* loop_values);

struct TileAccess {
  std::array<bool, kMaxOperands> transposed{};
  Shape cell{1, 1};         // of the operand in memory, if there is one
  std::int64_t stride = 1;  // elements from one of its rows to the next
  ElementType element_type = ElementType::kFloat;
  bool input = false;     // every element was written before the run
  std::int64_t work = 0;  // of the last execution

  // Of the last execution, if it failed.
  std::array<Shape, kMaxOperands> shapes{};  // of the operands that are read, by position
  std::size_t failed_operand = 0;
  std::int64_t failed_row = 0, failed_column = 0;
  double failed_value = 0;

  void prepare(const BoundProgram& program, const BoundInstruction& instruction);
  void locate(const std::int64_t* loop_values) {
    if (operand_) cell = cell_shape(*array_, *operand_, loop_values);
  }
  Diagnostic error(Status status, const RunPlace& place) const;

 private:
  const BoundArray* array_ = nullptr;
  const BoundOperand* operand_ = nullptr;  // the operand in memory
};

}  // namespace flashlab::toy::detail
