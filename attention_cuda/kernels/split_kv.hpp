// The division of rows and keys among the blocks of split_kv.cu, and its launches.
#pragma once

#include "attention/problem.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

struct SplitKvShape {
  int head_dim, rows;  // rows that read the same K and V

  static constexpr int kNumThreads = 128;
  static constexpr int kMostRows = 8;
  static constexpr int kBlocksPerSm = 4;  // the goal for the number of splits
  static constexpr int kFewestKeys = 64;  // minimum keys of a split

  constexpr int lanes() const { return std::min(head_dim / 4, 32); }
  constexpr int vectors() const { return head_dim / 4 / lanes(); }  // of four columns, per lane
  constexpr int groups() const { return kNumThreads / lanes(); }    // of lanes
  constexpr int keys() const { return 4 / vectors(); }              // per step of a group
  constexpr int shared_bytes() const { return groups() * rows * (head_dim + 2) * 4; }
};

/// Rows of a block: queries of one kv head.
inline int split_kv_rows(const AttentionProblem& problem) {
  return problem.heads_per_kv_head() * problem.seqlen_q == 1 ? 1 : SplitKvShape::kMostRows;
}

/// Blocks per split.
inline std::int64_t split_kv_row_groups(const AttentionProblem& problem) {
  const std::int64_t rows = problem.heads_per_kv_head() * problem.seqlen_q;
  return problem.batch * problem.num_kv_heads * num_tiles(rows, split_kv_rows(problem));
}

/// Enough splits to fill the multiprocessors, or the requested number (0: none requested).
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

inline Launches split_kv_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const int head_dim = padded_head_dim(problem.head_dim);
  const SplitKvShape shape = {head_dim, split_kv_rows(problem)};
  LaunchTiles splits;
  splits.name = "split_kv";
  splits.toy_pass = "Partial results";
  splits.block_q = shape.rows;
  splits.block_kv = shape.groups() * shape.keys();
  splits.num_threads = SplitKvShape::kNumThreads;
  splits.shared_bytes = shape.shared_bytes();
  splits.is_per_kv_head = true;
  splits.num_splits =
      split_kv_splits(problem, request.execution.num_splits, request.gpu.num_multiprocessors);
  splits.num_blocks = split_kv_row_groups(problem) * splits.num_splits;

  LaunchTiles merge;
  merge.name = "split_kv_merge";
  merge.toy_pass = "Merge";
  merge.block_q = 1;
  merge.num_threads = MergeShape::kNumThreads;
  merge.shared_bytes = MergeShape::shared_bytes(head_dim);
  merge.num_blocks = request.rows();
  merge.num_splits = splits.num_splits;
  return {splits, merge};
}

}  // namespace flashlab::cuda
