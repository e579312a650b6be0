// The launches of kernels that split the keys among blocks and merge the partial results, and the
// number of splits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "attention/problem.hpp"
#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// The first launch of such a kernel for one problem.
struct SplitTiles {
  std::string_view name;
  int rows;           // of a block: queries of one kv head's heads
  int block_kv;       // keys that a block processes together
  int num_threads;    // per block
  int shared_bytes;   // per block
  int blocks_per_sm;  // the goal for the number of splits

  static constexpr int kFewestKeys = 64;  // minimum keys of a split
};

/// Blocks per split.
inline std::int64_t row_groups(const AttentionProblem& problem, const SplitTiles& tiles) {
  const std::int64_t rows = problem.heads_per_kv_head() * problem.seqlen_q;
  return problem.batch * problem.num_kv_heads * num_tiles(rows, tiles.rows);
}

/// Returns enough splits to fill the multiprocessors, or the requested number (0: none requested).
inline int num_splits(const AttentionProblem& problem, const SplitTiles& tiles, int asked_for,
                      int num_multiprocessors) {
  if (asked_for > 0) return asked_for;
  const std::int64_t num_blocks = row_groups(problem, tiles);
  if (num_blocks == 0) return 1;
  const std::int64_t wanted = std::int64_t{num_multiprocessors} * tiles.blocks_per_sm / num_blocks,
                     most = problem.seqlen_k / SplitTiles::kFewestKeys;
  return static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, most)));
}

/// `work`: of a block of the first launch.
inline Launches split_launches(const SplitTiles& tiles, const TilesRequest& request,
                               const BlockWork& work) {
  LaunchTiles splits;
  splits.name = tiles.name;
  splits.toy_pass = "Partial results";
  splits.block_q = tiles.rows;
  splits.block_kv = tiles.block_kv;
  splits.num_threads = tiles.num_threads;
  splits.shared_bytes = tiles.shared_bytes;
  splits.is_per_kv_head = true;
  splits.num_splits = num_splits(request.problem, tiles, request.execution.num_splits,
                                 request.gpu.num_multiprocessors);
  splits.num_blocks = row_groups(request.problem, tiles) * splits.num_splits;
  splits.elements_loaded = {"q", "k", "v"};
  splits.block_work = work;

  LaunchTiles merge;
  merge.name = "split_kv_merge";
  merge.toy_pass = "Merge";
  merge.block_q = 1;
  merge.num_threads = MergeShape::kNumThreads;
  merge.shared_bytes = MergeShape::shared_bytes(padded_head_dim(request.problem.head_dim));
  merge.num_blocks = request.rows();
  merge.num_splits = splits.num_splits;
  merge.elements_stored = {"o"};
  // A partial result goes through shared memory; the maximum and the sum of all, then O.
  merge.row_work =
      with_place({request.rows() * splits.num_splits * request.problem.head_dim, 0, 3, 1, 2, 2, 3});
  constexpr int kMostBlocks[] = {8, 6, 5, 4};  // by head_dim, with 32, 40, 48 and 64 registers
  merge.row_work->blocks_per_sm = kMostBlocks[head_dim_index(request.problem.head_dim)];
  return {splits, merge};
}

}  // namespace flashlab::cuda
