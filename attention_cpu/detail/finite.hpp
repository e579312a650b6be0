// Checks whether a tile is finite. Only then may hidden pairs be multiplied by 0.
#pragma once

#include "attention_cpu/detail/product.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
bool is_finite(Operand<const Element> matrix, std::int64_t rows, std::int64_t columns) {
  int found = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const Element* const row = matrix.data + i * matrix.stride;
    for (std::int64_t c = 0; c < columns; ++c) found |= row[c] - row[c] == 0 ? 0 : 1;
  }
  return found == 0;
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
