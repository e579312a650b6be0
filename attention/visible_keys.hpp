// The formula of the masks: which keys a query sees, and which queries see a key. Both are ranges.
//
//   position of query i   p = i + query_offset                masks none and causal (top left)
//                         p = i + num_keys - num_queries                  bottom right
//   query i sees key j    p - left <= j <= p + right
//
// i and j count from the first query and the first key of the sequence. A batch entry is one
// sequence; or it contains several, one after the other (packed).
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

/// The mask of one sequence. Queries and keys count from the first of the batch entry.
struct VisibleKeys {
  std::int64_t first_query = 0, num_queries = 0, first_key = 0, num_keys = 0;
  std::int64_t left = kUnlimited, right = kUnlimited;
  std::int64_t shift = 0;  // p - i

  /// Returns the keys that query i sees. Neither end decreases with i, also from one sequence to the
  /// next.
  [[gnu::always_inline]] KeyRange of_query(std::int64_t i) const {
    const std::int64_t p = i - first_query + shift;
    return {first_key + limited(p - left, num_keys), first_key + limited(p + right + 1, num_keys)};
  }
  /// Returns the queries that see key j. Neither end decreases with j. Empty after the last key.
  [[gnu::always_inline]] KeyRange of_key(std::int64_t j) const {
    if (j >= first_key + num_keys) return {first_query + num_queries, first_query + num_queries};
    const std::int64_t i = j - first_key - shift;
    return {first_query + limited(i - right, num_queries),
            first_query + limited(i + left + 1, num_queries)};
  }

 private:
  [[gnu::always_inline]] static std::int64_t limited(std::int64_t index, std::int64_t most) {
    return index < 0 ? 0 : index < most ? index : most;
  }
};

/// The mask of every sequence of a problem.
struct MaskRule {
  std::int64_t left = kUnlimited, right = kUnlimited;  // right is 0 under a causal mask
  bool is_bottom_right = false;
  std::int64_t query_offset = 0;  // 0 with bottom right

  [[gnu::always_inline]] VisibleKeys of(std::int64_t first_query, std::int64_t num_queries,
                                        std::int64_t first_key, std::int64_t num_keys) const {
    return {first_query,
            num_queries,
            first_key,
            num_keys,
            left,
            right,
            is_bottom_right ? num_keys - num_queries : query_offset};
  }
};

/// Sequences one after the other: sequence s has queries cu_seqlens_q[s] … cu_seqlens_q[s + 1] - 1,
/// and the keys likewise.
struct PackedSequences {
  const std::int64_t *cu_seqlens_q = nullptr, *cu_seqlens_k = nullptr;  // [count + 1]; null: none
  std::int64_t count = 0;

  [[gnu::always_inline]] VisibleKeys of(std::int64_t s, const MaskRule& mask) const {
    return mask.of(cu_seqlens_q[s], cu_seqlens_q[s + 1] - cu_seqlens_q[s], cu_seqlens_k[s],
                   cu_seqlens_k[s + 1] - cu_seqlens_k[s]);
  }
  [[gnu::always_inline]] VisibleKeys of_query(std::int64_t i, const MaskRule& mask) const {
    return of(containing(cu_seqlens_q, i), mask);
  }
  [[gnu::always_inline]] VisibleKeys of_key(std::int64_t j, const MaskRule& mask) const {
    return of(containing(cu_seqlens_k, j), mask);
  }

 private:
  /// Returns the sequence that contains an index: the last one that does not begin after it.
  [[gnu::always_inline]] std::int64_t containing(const std::int64_t* begins,
                                                 std::int64_t index) const {
    std::int64_t low = 0, high = count;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (begins[middle] <= index ? low : high) = middle;
    }
    return low;
  }
};

}  // namespace flashlab
