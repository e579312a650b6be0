// The visible pairs of a tile: each query sees a number of first keys.
#pragma once

#include "attention_cpu/detail/vector.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// The number of the tile's keys that kLanes queries see. It counts from the tile's first key, so
/// that it is exact in any Element, even for a long K.
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
