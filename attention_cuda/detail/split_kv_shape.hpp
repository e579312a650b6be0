// How split_kv divides rows and keys among blocks (kernels/split_kv.cu).
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention/problem.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

struct SplitKvShape {
  int head_dim, rows;  // that read the same K and V

  static constexpr int kNumThreads = 128;
  static constexpr int kMostRows = 8;
  static constexpr int kBlocksPerSm = 4;  // that there should be
  static constexpr int kFewestKeys = 64;  // fewer are not worth a split of their own

  constexpr int lanes() const { return std::min(head_dim / 4, 32); }
  constexpr int vectors() const { return head_dim / 4 / lanes(); }  // of four columns, a lane
  constexpr int groups() const { return kNumThreads / lanes(); }    // of lanes
  constexpr int keys() const { return 4 / vectors(); }              // that a group takes at once
  constexpr int shared_bytes() const { return groups() * rows * (head_dim + 2) * 4; }
};

/// Rows of a block: queries of one kv head.
inline int split_kv_rows(const AttentionProblem& problem) {
  return problem.heads_per_kv_head() * problem.seqlen_q == 1 ? 1 : SplitKvShape::kMostRows;
}

/// Blocks of one split.
inline std::int64_t split_kv_row_groups(const AttentionProblem& problem) {
  const std::int64_t rows = problem.heads_per_kv_head() * problem.seqlen_q;
  return problem.batch * problem.num_kv_heads * num_tiles(rows, split_kv_rows(problem));
}

/// As many splits as fill the multiprocessors, unless some number was asked for (0: none).
inline int split_kv_splits(const AttentionProblem& problem, int asked_for,
                           int num_multiprocessors) {
  if (asked_for > 0) return asked_for;
  const std::int64_t num_blocks = split_kv_row_groups(problem);
  if (num_blocks == 0) return 1;
  const std::int64_t wanted = std::int64_t{num_multiprocessors} * SplitKvShape::kBlocksPerSm /
                              num_blocks,
                     most = problem.seqlen_k / SplitKvShape::kFewestKeys;
  return static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, most)));
}

/// Of the kernel that merges partial results, one block per row.
struct MergeShape {
  static constexpr int kNumWarps = 8, kNumThreads = 32 * kNumWarps;
  static constexpr int shared_bytes(int head_dim) { return kNumWarps * (1 + head_dim) * 4; }
};

}  // namespace flashlab::cuda
