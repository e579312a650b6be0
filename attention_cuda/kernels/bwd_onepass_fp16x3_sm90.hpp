// The tiles and launches of bwd_onepass_fp16x3_sm90.cu.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"
#include "attention_cuda/kernels/flash2_fp16x3_sm90.hpp"

namespace flashlab::cuda {

/// The tiles of bwd_onepass_wgmma_sm90 for twice the head_dim: rows have high and low parts. What that
/// kernel has of dS^T for two query tiles are here the parts of one, and what it has of dQ for both parts
/// of head_dim is dQ of each warpgroup's keys.
struct BwdFp16x3Shape {
  BwdWgmmaShape wgmma;  // its head_dim counts both parts

  static constexpr int kParts = Fp16x3Shape::kParts;
  /// Numbers for each query of a tile, and two for all of them (BwdFp16x3Statistic).
  static constexpr int kStatistics = 5, kStatisticsOfTile = 4;
  static constexpr int kSplitRows = 64;  // of a block that splits

  constexpr int head_dim() const { return wgmma.head_dim / kParts; }
  constexpr int statistics_bytes() const {
    return 4 * (kStatistics * wgmma.block_q + kStatisticsOfTile);
  }
  /// The largest scaled dS of each warp.
  static constexpr int maxima_bytes() { return 4 * 4 * BwdWgmmaShape::kComputing; }
  constexpr int shared_bytes() const {
    return wgmma.shared_bytes() +
           BwdWgmmaShape::kStages * (statistics_bytes() - wgmma.statistics_bytes()) +
           maxima_bytes();
  }
};

inline constexpr BwdFp16x3Shape kBwdFp16x3Shape = {{2 * 64, 64}};
inline constexpr std::int64_t kBwdFp16x3MostHeadDim = kBwdFp16x3Shape.head_dim();

/// The blocks that split: each has kSplitRows rows of Q, dO, K or V.
struct BwdFp16x3SplitBlocks {
  std::int64_t of_Q, of_K;  // as many of dO and of V

  explicit BwdFp16x3SplitBlocks(const AttentionProblem& problem)
      : of_Q(problem.batch * problem.num_heads *
             num_tiles(problem.seqlen_q, BwdFp16x3Shape::kSplitRows)),
        of_K(problem.batch * problem.num_kv_heads *
             num_tiles(problem.seqlen_k, BwdFp16x3Shape::kSplitRows)) {}
  std::int64_t all() const { return 2 * (of_Q + of_K); }
};

inline Launches bwd_onepass_fp16x3_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const BwdFp16x3Shape& shape = kBwdFp16x3Shape;
  const std::int64_t rows = 2 * (request.rows() + request.kv_heads() * problem.seqlen_k);
  LaunchTiles split =
      uncounted_launch("bwd_fp16x3_split", BwdFp16x3SplitBlocks(problem).all(),
                       {4 * rows * problem.head_dim, 4 * rows * (shape.head_dim() + 1)});
  split.num_threads = Fp16x3Shape::kSplitThreads;

  const LaunchTiles gradients = for_dKV(
      backward_tiles("bwd_onepass_fp16x3_sm90", "Gradients", shape.wgmma.block_q,
                     BwdWgmmaShape::kBlockKV, BwdWgmmaShape::kNumThreads, shape.shared_bytes()),
      request);
  Launches launches =
      bwd_wgmma_launches(request, several_per_block(gradients, request), shape.head_dim(),
                         /*num_warpgroups=*/1, "dQ_of_fp16x3_sums");
  launches.insert(launches.begin() + 2, split);
  return launches;
}

}  // namespace flashlab::cuda
