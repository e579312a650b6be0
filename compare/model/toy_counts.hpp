// The toy machine's counts for attention, by program and pass, at any size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::compare {

/// The parameters of attention programs: one head.
struct ToyParameters {
  std::int64_t n = 0, nk = 0, d = 0;   // queries, keys, head_dim
  std::int64_t B = 0, Bk = 0;          // tile
  std::optional<std::int64_t> splits;  // of split_kv
};

/// Elements of one array that a program moves.
struct ArrayCount {
  std::string name;
  bool is_temporary = false;
  std::int64_t size = 0;  // total number of elements
  std::int64_t loaded = 0, stored = 0, updated = 0;
};

struct ToyCounts {
  std::vector<ArrayCount> arrays;  // in the order of the program
  std::int64_t product_flops = 0, elementwise_flops = 0, divisions = 0, exps = 0;
};

/// Counts a whole program ("flash2") or one of its passes without running it. The counts are exact.
/// Throws std::invalid_argument: an unknown program or pass, or parameters that the program
/// rejects; std::overflow_error: a count of 2^63 or more.
ToyCounts count_toy(std::string_view program, const ToyParameters& parameters,
                    std::string_view pass = {});

}  // namespace flashlab::compare
