// The effect of an instruction as a tree of operations, for those who translate programs into
// another language.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "toymachine/language/operations.hpp"

namespace flashlab::toy {

struct EffectTree {
  /// Nothing: an operand of the instruction, which is a register, a cell, a constant or an offset.
  std::optional<Operation> operation;
  std::size_t operand = 0;            // of an operand: its position in the instruction
  std::vector<EffectTree> arguments;  // of an operation
};

/// Returns the effect of the instruction in this row of instruction_set(): what is written to its
/// destination.
EffectTree effect_tree(std::size_t row);

}  // namespace flashlab::toy
