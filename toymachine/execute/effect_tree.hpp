// The effect of an instruction as a tree of operations, for those who translate programs into
// another language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flashlab::toy {

enum class Operation : std::uint8_t {
  kOperand,  // an operand of the instruction: a register, a cell, a constant or an offset
  kPlus,     // the next five: element by element; scalars and columns are repeated
  kMinus,
  kTimes,
  kOver,
  kMaximum,
  kExponential,
  kLogarithm,
  kProduct,     // a matrix product
  kRowMaximum,  // a column
  kRowSum,      // a column
  kMasked,      // arguments: a tile, its first row, its first column; -inf where column > row
  kMaskedLeft,  // the same; -inf where column < row
};

struct EffectTree {
  Operation operation = Operation::kOperand;
  std::size_t operand = 0;            // kOperand: position in the instruction
  std::vector<EffectTree> arguments;  // of all other operations
};

/// Returns the effect of the instruction in this row of instruction_set(): what is written to its
/// destination.
EffectTree effect_tree(std::size_t row);

}  // namespace flashlab::toy
