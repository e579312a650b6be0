// The effects of the instruction table on symbols: what instructions do to formulas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "toymachine/execute/execute.hpp"
#include "toymachine/language/instruction_table.hpp"
#include "toymachine/trace/symbol.hpp"

namespace flashlab::toy::detail {

/// Arguments in the order of the operands that are read: formulas first, then offsets.
using SymbolEffect = Symbol (*)(const Symbol* args, const std::int64_t* offsets);

/// Returns the operand that an effect takes at a position of the row.
template <std::size_t Row, std::size_t Position>
decltype(auto) symbol_argument(const Symbol* args, const std::int64_t* offsets) {
  constexpr auto& kSpec = std::get<Row>(kInstructionRows).spec;
  constexpr auto kBefore = [](bool offset) {  // earlier operands of the same kind
    std::size_t count = 0;
    for (std::size_t i = 0; i < Position; ++i) {
      count += is_read(kSpec.operands[i]) && (kSpec.operands[i] == OperandKind::kOffset) == offset;
    }
    return count;
  };
  if constexpr (kSpec.operands[Position] == OperandKind::kOffset) {
    return offsets[kBefore(true)];
  } else {
    return (args[kBefore(false)]);
  }
}

template <std::size_t Row, std::size_t... I>
Symbol symbol_effect(const Symbol* args, const std::int64_t* offsets, std::index_sequence<I...>) {
  return std::get<Row>(kInstructionRows)
      .effect(symbol_argument<Row, RowLayout<Row>::kReads[I]>(args, offsets)...);
}

template <std::size_t Row>
Symbol symbol_effect(const Symbol* args, const std::int64_t* offsets) {
  return symbol_effect<Row>(args, offsets, std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <std::size_t... Rows>
constexpr std::array<SymbolEffect, kNumRows> symbol_effects(std::index_sequence<Rows...>) {
  return {static_cast<SymbolEffect>(&symbol_effect<Rows>)...};
}

inline constexpr auto kSymbolEffects = symbol_effects(std::make_index_sequence<kNumRows>());

}  // namespace flashlab::toy::detail
