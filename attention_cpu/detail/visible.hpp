// Which pairs of a tile the mask leaves: each query sees the first keys, up to a number of its own.
#pragma once

#include "attention_cpu/detail/vector.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// How many of the tile's keys kLanes queries see. Counted from the tile's first key, so that the
/// number is exact in any Element, however long K is.
template <class Element>
inline Vector<Element> visible_in_tile(const std::int64_t* visible, std::int64_t first_key,
                                       std::int64_t num_keys) {
  Vector<Element> result = {};
  for (int lane = 0; lane < kLanes<Element>; ++lane) {
    const std::int64_t seen = visible[lane] - first_key;
    result[lane] = static_cast<Element>(seen < 0 ? 0 : seen < num_keys ? seen : num_keys);
  }
  return result;
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
