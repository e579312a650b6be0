// Executes one instruction on tiles, or on their shapes alone: one function for each row
// of the table.
#pragma once

#include <limits>

#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/execute.hpp"
#include "toymachine/execute/tile.hpp"

namespace flashlab::toy::detail {

template <std::size_t Row>
inline constexpr const InstructionSpec& kSpec = std::get<Row>(kInstructionRows).spec;

/// Returns the position of the operand in memory, or kMaxOperands if there is none.
template <std::size_t Row>
constexpr std::size_t memory_position() {
  for (std::size_t i = 0; i < kSpec<Row>.num_operands; ++i) {
    if (is_memory(kSpec<Row>.operands[i])) return i;
  }
  return kMaxOperands;
}

/// Returns the operand for an effect on shapes: the shape as it is read, or a whole number.
template <std::size_t Row, std::size_t Position, class Access>
auto shape_operand(const Access& slots) {
  if constexpr (kSpec<Row>.operands[Position] == OperandKind::kOffset) {
    return slots.at[Position];
  } else {
    return slots.shapes[Position];
  }
}

template <std::size_t Row, class Access, std::size_t... I>
Shape shape_of_result(const Access& slots, std::index_sequence<I...>) {
  return std::get<Row>(kInstructionRows)
      .effect(shape_operand<Row, RowLayout<Row>::kReads[I]>(slots)...);
}

/// Finds the shape of the result and the work. Returns false if the operands do not match. Needs
/// the shapes of the operands that are read.
template <std::size_t Row, class Access>
bool fit(Access& slots, Shape& result) {
  using Reads = RowLayout<Row>;
  result = shape_of_result<Row>(slots, std::make_index_sequence<Reads::kNumReads>{});
  if constexpr (is_memory(kSpec<Row>.operands[Reads::kWritten])) {
    // A scalar or a column fills the whole cell.
    if (result.fits)
      result = broadcast(slots.cell, result) == slots.cell ? slots.cell : misfit<std::int64_t>();
  }
  if (!result.fits) return false;
  slots.work = work(kSpec<Row>.flop_kind, slots.shapes[Reads::kReads[0]], result);
  return true;
}

// On tiles -------------------------------------------------------------------------------------

template <std::size_t Row, std::size_t Position, class E>
auto tile_operand(const Slots<Tile<E>>& slots, const Tile<E>* registers, const E* dram) {
  constexpr OperandKind kKind = kSpec<Row>.operands[Position];
  if constexpr (kKind == OperandKind::kOffset) {
    return slots.at[Position];
  } else if constexpr (is_memory(kKind)) {
    return TileView<E>{dram + slots.at[Position], slots.cell, slots.stride, false};
  } else {
    const Tile<E>& tile = registers[slots.at[Position]];
    return TileView<E>{tile.data(), slots.shapes[Position], tile.stride(),
                       slots.transposed[Position]};
  }
}

/// Records the operand's shape; returns false if it was never written.
template <std::size_t Row, std::size_t Position, class E>
bool examine(Slots<Tile<E>>& slots, const Tile<E>* registers, const E* dram) {
  constexpr OperandKind kKind = kSpec<Row>.operands[Position];
  bool is_written = true;
  if constexpr (is_memory(kKind)) {
    slots.shapes[Position] = slots.cell;
    is_written =
        slots.input || tile_kernels<E>().written({dram + slots.at[Position], slots.stride, 1},
                                                 slots.cell.rows, slots.cell.cols);
  } else if constexpr (kKind != OperandKind::kOffset) {
    const Tile<E>& tile = registers[slots.at[Position]];
    is_written = tile.is_written();
    slots.shapes[Position] = slots.transposed[Position] ? transposed(tile.shape()) : tile.shape();
  }
  if (!is_written) slots.failed_operand = Position;
  return is_written;
}

/// In elementwise operations, an operand may be overwritten while it is read.
template <std::size_t Row>
inline constexpr bool kInPlace =
    kSpec<Row>.flop_kind != FlopKind::kProduct&& kSpec<Row>.flop_kind != FlopKind::kReduction;

/// Whether writing the result in place would overwrite an operand too early.
template <std::size_t Row, class E, std::size_t... I>
bool needs_scratch(const Slots<Tile<E>>& slots, const Shape& result, std::index_sequence<I...>) {
  using Reads = RowLayout<Row>;
  const auto clashes = [&](std::size_t read) {
    const std::size_t position = Reads::kReads[read];
    if (!is_register_read(kSpec<Row>.operands[position])) return false;
    if (slots.at[position] != slots.at[Reads::kWritten]) return false;
    const bool addend = kSpec<Row>.flop_kind == FlopKind::kProduct && read == 2;
    return !(kInPlace<Row> || addend) || !(slots.shapes[position] == result);
  };
  return (clashes(I) || ...);
}

template <class E>
Block<E> block_of(Tile<E>& tile) {
  return {tile.own_data(), tile.shape().rows, tile.shape().cols, tile.shape().cols};
}

template <class E>
bool round_block(ElementType type, Block<E> block) {
  bool legal = true;
  for (std::int64_t r = 0; r < block.rows; ++r) {
    for (std::int64_t c = 0; c < block.cols; ++c) {
      E& value = block.data[r * block.stride + c];
      value = static_cast<E>(round_to(type, static_cast<double>(value)));
      legal = legal && value < std::numeric_limits<E>::infinity();
    }
  }
  return legal;
}

template <class E>
void find_illegal(Slots<Tile<E>>& slots, Block<E> block) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    for (std::int64_t c = 0; c < block.cols; ++c) {
      const E value = block.data[r * block.stride + c];
      if (value < std::numeric_limits<E>::infinity()) continue;
      slots.failed_row = r;
      slots.failed_column = c;
      slots.failed_value = static_cast<double>(value);
      return;
    }
  }
}

template <std::size_t Row, class E, std::size_t... I>
Status execute_tile_row(Slots<Tile<E>>& slots, Tile<E>* registers, E* dram,
                        std::index_sequence<I...> reads) {
  using Reads = RowLayout<Row>;
  constexpr std::size_t kWritten = Reads::kWritten;
  constexpr bool kToMemory = is_memory(kSpec<Row>.operands[kWritten]);
  if (!(examine<Row, Reads::kReads[I]>(slots, registers, dram) && ...)) return Status::kUnwritten;
  Shape shape;
  if (!fit<Row>(slots, shape)) return Status::kMisfit;
  if constexpr (kSpec<Row>.is_load()) {
    if (slots.input) {
      registers[slots.at[kWritten]].borrow(dram + slots.at[Reads::kReads[0]], shape, slots.stride);
      return Status::kOk;
    }
  }
  const auto expression =
      std::get<Row>(kInstructionRows)
          .effect(tile_operand<Row, Reads::kReads[I]>(slots, registers, dram)...);
  Block<E> block;
  bool legal = true;
  if constexpr (kToMemory) {
    block = {dram + slots.at[kWritten], shape.rows, shape.cols, slots.stride};
    legal = evaluate(expression, block);
    if (is_narrow(slots.element_type)) legal = round_block(slots.element_type, block);
  } else {
    Tile<E>& target = registers[slots.at[kWritten]];
    if (needs_scratch<Row>(slots, shape, reads)) {
      Tile<E> scratch;
      scratch.reshape(shape);
      legal = evaluate(expression, block_of(scratch));
      std::swap(target, scratch);
    } else {
      target.reshape(shape);
      legal = evaluate(expression, block_of(target));
    }
    block = block_of(target);
  }
  if (legal) return Status::kOk;
  find_illegal(slots, block);
  return Status::kIllegal;
}

template <class E, std::size_t Row>
Status execute_tile_row(Slots<Tile<E>>& slots, Tile<E>* registers, E* dram) {
  if constexpr (kSpec<Row>.is_link()) {
    slots.work = 0;
    return Status::kLink;
  }
  return execute_tile_row<Row, E>(slots, registers, dram,
                                  std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <class E, std::size_t... Row>
constexpr std::array<Execute<Tile<E>>, kNumRows> execute_tile_table(std::index_sequence<Row...>) {
  return {static_cast<Execute<Tile<E>>>(&execute_tile_row<E, Row>)...};
}

template <>
inline constexpr auto kExecute<Tile<float>> =
    execute_tile_table<float>(std::make_index_sequence<kNumRows>{});
template <>
inline constexpr auto kExecute<Tile<double>> =
    execute_tile_table<double>(std::make_index_sequence<kNumRows>{});

// On shapes alone ------------------------------------------------------------------------------

/// There is no DRAM, and no cell of it is unwritten.
struct NoCell {};

template <>
struct ValueTraits<Shape> {
  using Cell = NoCell;
  using Access = TileAccess;
  static constexpr bool kTiles = true;
  static Shape unwritten() { return {0, 0}; }
  static Shape constant(double) { return {1, 1}; }
};

template <std::size_t Row, std::size_t Position>
bool examine_shape(Slots<Shape>& slots, const Shape* registers) {
  constexpr OperandKind kKind = kSpec<Row>.operands[Position];
  if constexpr (is_memory(kKind)) {
    slots.shapes[Position] = slots.cell;
  } else if constexpr (kKind != OperandKind::kOffset) {
    const Shape& shape = registers[slots.at[Position]];
    slots.shapes[Position] = slots.transposed[Position] ? transposed(shape) : shape;
    if (shape.rows == 0) {
      slots.failed_operand = Position;
      return false;
    }
  }
  return true;
}

template <std::size_t Row, std::size_t... I>
Status execute_shape_row(Slots<Shape>& slots, Shape* registers, std::index_sequence<I...>) {
  using Reads = RowLayout<Row>;
  if (!(examine_shape<Row, Reads::kReads[I]>(slots, registers) && ...)) return Status::kUnwritten;
  Shape shape;
  if (!fit<Row>(slots, shape)) return Status::kMisfit;
  if constexpr (!is_memory(kSpec<Row>.operands[Reads::kWritten])) {
    registers[slots.at[Reads::kWritten]] = shape;
  }
  return Status::kOk;
}

template <std::size_t Row>
Status execute_shape_row(Slots<Shape>& slots, Shape* registers, NoCell*) {
  if constexpr (kSpec<Row>.is_link()) {
    slots.work = 0;
    return Status::kLink;
  }
  return execute_shape_row<Row>(slots, registers,
                                std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <std::size_t... Row>
constexpr std::array<Execute<Shape>, kNumRows> execute_shape_table(std::index_sequence<Row...>) {
  return {static_cast<Execute<Shape>>(&execute_shape_row<Row>)...};
}

template <>
inline constexpr auto kExecute<Shape> = execute_shape_table(std::make_index_sequence<kNumRows>{});

}  // namespace flashlab::toy::detail
