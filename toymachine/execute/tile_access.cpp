#include "toymachine/execute/tile_access.hpp"

#include <algorithm>
#include <string>

#include "toymachine/bind/wrapping.hpp"
#include "toymachine/execute/execute.hpp"
#include "toymachine/execute/run_errors.hpp"

namespace flashlab::toy::detail {
namespace {

std::int64_t extent_of_tile(const BoundArray& array, const BoundOperand& operand, std::size_t axis,
                            const std::int64_t* loop_values) {
  const std::int64_t tile = array.tile[axis];
  return std::min(tile, wrapped_sum(array.extents[axis],
                                    wrapped_product(-tile, operand.axes[axis](loop_values))));
}

}  // namespace

Shape cell_shape(const BoundArray& array, const BoundOperand& operand,
                 const std::int64_t* loop_values) {
  const std::size_t rank = array.extents.size();
  Shape shape{1, 1};
  if (array.tile[rank - 1] > 1) {
    shape.cols = extent_of_tile(array, operand, rank - 1, loop_values);
  }
  if (rank > 1 && array.tile[rank - 2] > 1) {
    shape.rows = extent_of_tile(array, operand, rank - 2, loop_values);
  }
  return shape;
}

void TileAccess::prepare(const BoundProgram& program, const BoundInstruction& instruction) {
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const BoundOperand& operand = instruction.operands[i];
    transposed[i] = operand.transposed;
    if (!is_memory(operand.kind)) continue;
    array_ = &program.arrays[operand.array];
    operand_ = &operand;
    stride = array_->extents.back();
    element_type = array_->element_type;
    input = array_->role == ArrayRole::kInput;
  }
}

Diagnostic TileAccess::error(Status status, const RunPlace& place) const {
  const TileElement element{failed_row, failed_column, failed_value};
  if (status == Status::kUnwritten) return unwritten_error(place, failed_operand);
  if (status == Status::kIllegal) return illegal_error(place, element);
  return misfit_error(place, shapes, cell);
}

}  // namespace flashlab::toy::detail
