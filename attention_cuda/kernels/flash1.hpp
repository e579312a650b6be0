// The tiles and launches of flash1.cu.
#pragma once

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

struct Flash1Shape {
  static constexpr int kNumWarps = 4, kNumThreads = 32 * kNumWarps;
  static constexpr int kBlockQ = 64, kBlockKV = 32;  // one key per lane
  static constexpr int kStartThreads = 256;          // of the kernels before and after the loop

  /// K and V, one query per warp, m and l.
  static constexpr int shared_bytes(int head_dim) {
    return 4 * ((2 * kBlockKV + kNumWarps) * head_dim + 2 * kBlockQ);
  }
};

inline Launches flash1_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const std::int64_t rows = request.rows();
  LaunchTiles start;
  start.name = "flash1_start";
  start.toy_pass = "Start";
  start.num_threads = Flash1Shape::kStartThreads;
  start.num_blocks = num_tiles(rows * problem.head_dim, Flash1Shape::kStartThreads);

  LaunchTiles launch;
  launch.name = "flash1";
  launch.toy_pass = "Attention";
  launch.block_q = Flash1Shape::kBlockQ;
  launch.block_kv = Flash1Shape::kBlockKV;
  launch.num_threads = Flash1Shape::kNumThreads;
  launch.shared_bytes = Flash1Shape::shared_bytes(padded_head_dim(problem.head_dim));
  launch.num_blocks = request.heads() * num_tiles(problem.seqlen_q, Flash1Shape::kBlockQ);
  launch.num_launches = num_tiles(problem.seqlen_k, Flash1Shape::kBlockKV);

  LaunchTiles lse = uncounted_launch("flash1_lse", num_tiles(rows, Flash1Shape::kStartThreads),
                                     {8 * rows, 4 * rows});
  lse.num_threads = Flash1Shape::kStartThreads;
  return {start, launch, lse};
}

}  // namespace flashlab::cuda
