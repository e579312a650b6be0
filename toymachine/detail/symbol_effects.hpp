// What instructions do to formulas: the effects of the instruction table, on symbols.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "toymachine/detail/instruction_rows.hpp"
#include "toymachine/symbol.hpp"

namespace flashlab::toy::detail {

/// Arguments in the order of the operands that are read.
using SymbolEffect = Symbol (*)(const Symbol* args);

template <std::size_t Row>
Symbol symbol_effect(const Symbol* args) {
  const auto& effect = std::get<Row>(kInstructionRows).effect;
  using Effect = decltype(effect);
  if constexpr (std::is_invocable_v<Effect, const Symbol&>) {
    return effect(args[0]);
  } else if constexpr (std::is_invocable_v<Effect, const Symbol&, const Symbol&>) {
    return effect(args[0], args[1]);
  } else {
    return effect(args[0], args[1], args[2]);
  }
}

template <std::size_t... Rows>
constexpr std::array<SymbolEffect, kNumRows> symbol_effects(std::index_sequence<Rows...>) {
  return {&symbol_effect<Rows>...};
}

inline constexpr auto kSymbolEffects = symbol_effects(std::make_index_sequence<kNumRows>());

}  // namespace flashlab::toy::detail
