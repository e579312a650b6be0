// The visible pairs of a tile: each query sees a range of keys.
#pragma once

#include "attention/visible_keys.hpp"
#include "attention_cpu/detail/vector.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// The part of a range within num_keys keys from first_key on, counted from there.
inline KeyRange within(const KeyRange& range, std::int64_t first_key, std::int64_t num_keys) {
  const auto limited = [num_keys](std::int64_t key) {
    return key < 0 ? 0 : key < num_keys ? key : num_keys;
  };
  return {limited(range.first - first_key), limited(range.end - first_key)};
}

/// Returns whether a range lacks one of num_keys keys from first_key on.
inline bool hides_some(const KeyRange& range, std::int64_t first_key, std::int64_t num_keys) {
  return first_key < range.first || range.end < first_key + num_keys;
}

/// The keys of a tile that kLanes queries see. They count from the tile's first key, so that they
/// are exact in any Element, even for a long K.
template <class Element>
struct VisibleInTile {
  Vector<Element> first = {}, end = {};

  VisibleInTile(const KeyRange* visible, std::int64_t first_key, std::int64_t num_keys) {
    for (int lane = 0; lane < kLanes<Element>; ++lane) {
      const KeyRange range = within(visible[lane], first_key, num_keys);
      first[lane] = static_cast<Element>(range.first);
      end[lane] = static_cast<Element>(range.end);
    }
  }
  /// Returns which queries see key j of the tile.
  auto contains(std::int64_t j) const {
    const Vector<Element> key = broadcast(static_cast<Element>(j));
    return (first <= key) & (key < end);
  }
};

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
