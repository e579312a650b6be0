// Effects of the instruction table on shapes that are formulas. Private to shape inference.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "toymachine/count/dimension.hpp"
#include "toymachine/execute/execute.hpp"

namespace flashlab::toy::detail {

/// By position of the operand.
using TileShapes = std::array<TileShape, kMaxOperands>;

struct TileEffect {
  TileShape (*result)(const TileShapes& operands);
  std::size_t first_read;  // position of the first operand that is read
  std::size_t written;     // and of the one that is written
};

template <std::size_t Row, std::size_t Position>
auto tile_shape_operand(const TileShapes& operands) {
  if constexpr (RowLayout<Row>::spec.operands[Position] == OperandKind::kOffset) {
    return std::int64_t{0};
  } else {
    return operands[Position];
  }
}

template <std::size_t Row, std::size_t... I>
TileShape tile_result(const TileShapes& operands, std::index_sequence<I...>) {
  return std::get<Row>(kInstructionRows)
      .effect(tile_shape_operand<Row, RowLayout<Row>::kReads[I]>(operands)...);
}

template <std::size_t Row>
TileShape tile_result(const TileShapes& operands) {
  return tile_result<Row>(operands, std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <std::size_t... Row>
constexpr std::array<TileEffect, kNumRows> tile_effects(std::index_sequence<Row...>) {
  return {TileEffect{&tile_result<Row>, RowLayout<Row>::kReads[0], RowLayout<Row>::kWritten}...};
}

/// By row of the instruction table.
inline constexpr auto kTileEffects = tile_effects(std::make_index_sequence<kNumRows>{});

}  // namespace flashlab::toy::detail
