// The formula of the masks: which keys a query sees, and which queries see a key. Both are ranges.
//
//   position of query i   p = i             masks none and causal (top left)
//                         p = i + num_keys - num_queries                  bottom right
//   query i sees key j    p - left <= j <= p + right
//
// Functions are always inlined: several builds for different processors compile this file, and the
// linker would keep one build's copy of any other function.
#pragma once

#include <cstdint>

namespace flashlab {

/// The indices first … end - 1. Empty if first = end.
struct KeyRange {
  std::int64_t first = 0, end = 0;

  [[gnu::always_inline]] std::int64_t count() const { return end - first; }
  [[gnu::always_inline]] bool contains(std::int64_t index) const {
    return first <= index && index < end;
  }
  [[gnu::always_inline]] bool operator==(const KeyRange& other) const {
    return first == other.first && end == other.end;
  }
};

/// More than the distance of any query from any key.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 61;

/// The mask of one batch entry.
struct VisibleKeys {
  std::int64_t num_queries = 0, num_keys = 0;
  std::int64_t left = kUnlimited, right = kUnlimited;  // right is 0 under a causal mask
  std::int64_t shift = 0;                              // p - i

  /// Returns the keys that query i sees. Neither end decreases with i.
  [[gnu::always_inline]] KeyRange of_query(std::int64_t i) const {
    const std::int64_t p = i + shift;
    return {limited(p - left, num_keys), limited(p + right + 1, num_keys)};
  }
  /// Returns the queries that see key j. Neither end decreases with j. Empty from num_keys on.
  [[gnu::always_inline]] KeyRange of_key(std::int64_t j) const {
    if (j >= num_keys) return {num_queries, num_queries};
    const std::int64_t i = j - shift;
    return {limited(i - right, num_queries), limited(i + left + 1, num_queries)};
  }

 private:
  [[gnu::always_inline]] static std::int64_t limited(std::int64_t index, std::int64_t most) {
    return index < 0 ? 0 : index < most ? index : most;
  }
};

}  // namespace flashlab
