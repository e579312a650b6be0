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

/// One pair of tiles, each product of three. A warpgroup has dQ of its own keys; dS^T goes through shared
/// memory, and dQ on its way to global memory.
inline BlockWork bwd_fp16x3_work(const BwdFp16x3Shape& shape) {
  const std::int64_t keys = BwdWgmmaShape::kBlockKV, queries = shape.wgmma.block_q,
                     head_dim = shape.head_dim(), rows = BwdWgmmaShape::kRowsOfWarpgroup;
  BlockWork work = wgmma_work(BwdWgmmaShape::kComputing);
  work.products_per_product = 3;
  work.drains = 2;  // before the parts of D, and at the end
  const BlockProduct scores = {keys,    queries,          head_dim,        rows,
                               queries, Operand::kShared, Operand::kShared};
  const BlockProduct gradient = {
      keys, head_dim, queries, rows, head_dim, Operand::kResults, Operand::kSharedColumns};
  const BlockProduct dQ = {BwdWgmmaShape::kComputing * queries,
                           head_dim,
                           rows,
                           rows,
                           head_dim,
                           Operand::kShared,
                           Operand::kSharedColumns};
  work.products = {scores, scores, gradient, gradient, dQ};
  // The scale of the key; the largest magnitude; two scales each of P and of D for the products with dO
  // and Q, and two of D for the one with K, whose parts are split again (3).
  work.score_instructions = kScoreGradientInstructions + 1 + 1 + 4 + 2 + 3;
  const std::int64_t sums = BwdWgmmaShape::kComputing * 4 * queries * head_dim;
  work.stored.bytes = shape.wgmma.gradient_bytes() + sums;
  // A thread loads two numbers for four scores: lse, scales, delta, and a factor for each split.
  constexpr std::int64_t kNumbers = 5;
  work.loaded = {2 * kNumbers * keys * queries, 8};
  work.added_in_bulk_bytes = sums;
  work.num_barriers = 3;
  work.mbarrier_waits = 5;  // Q, dO, dS^T, room for it, and for the sums
  work.mbarrier_arrivals = 4;
  work.order = BlockOrder::kLongestFirst;
  store_sums(work, 2 * keys * head_dim, 4);
  work.first_bytes = 2 * (shape.wgmma.keys_bytes() + shape.wgmma.queries_bytes());
  return work;
}

/// Rows of Q, dO, K and V in two parts. Each warpgroup adds dQ of its own keys. dK and dV are stored number by
/// number: two instructions write each sector.
inline MovedBytes bwd_fp16x3_moved(const BwdFp16x3Shape& shape, const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const std::int64_t queries = shape.wgmma.block_q, head_dim = shape.head_dim(),
                     pairs =
                         visible_tile_pairs(problem, shape.wgmma.block_q, BwdWgmmaShape::kBlockKV),
                     row_bytes = 2 * BwdFp16x3Shape::kParts * head_dim,
                     keys = request.kv_heads() * problem.seqlen_k,
                     sums = 4 * BwdWgmmaShape::kComputing * queries * head_dim;
  constexpr std::int64_t kTimesWritten = 2;
  return {pairs * (2 * queries * row_bytes + shape.statistics_bytes()) + 2 * keys * row_bytes,
          pairs * sums + kTimesWritten * 2 * 4 * keys * problem.head_dim};
}

inline Launches bwd_onepass_fp16x3_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const BwdFp16x3Shape& shape = kBwdFp16x3Shape;
  const std::int64_t rows = 2 * (request.rows() + request.kv_heads() * problem.seqlen_k);
  LaunchTiles split =
      uncounted_launch("bwd_fp16x3_split", BwdFp16x3SplitBlocks(problem).all(),
                       {4 * rows * problem.head_dim, 4 * rows * (shape.head_dim() + 1)});
  split.num_threads = Fp16x3Shape::kSplitThreads;
  constexpr int kMostBlocks = 8;  // with 32 registers
  split.row_work = fp16x3_split_work(rows, problem.head_dim,
                                     BwdFp16x3Shape::kSplitRows / (Fp16x3Shape::kSplitThreads / 32),
                                     kMostBlocks);
  // Of a row, besides: where its tensor's strides, factors and places are, one of four (8 loads, each
  // with an address), whether the row takes part (4), and its columns' addresses again.
  split.row_work->number_instructions +=
      kInstructionsOfColumnAddress + (8 * 2 + 4) * 32 / static_cast<double>(problem.head_dim);

  LaunchTiles gradients = for_dKV(
      backward_tiles("bwd_onepass_fp16x3_sm90", "Gradients", shape.wgmma.block_q,
                     BwdWgmmaShape::kBlockKV, BwdWgmmaShape::kNumThreads, shape.shared_bytes()),
      request);
  gradients.block_work = bwd_fp16x3_work(shape);
  gradients.moved = bwd_fp16x3_moved(shape, request);
  Launches launches =
      bwd_wgmma_launches(request, several_per_block(gradients, request), shape.head_dim(),
                         /*num_warpgroups=*/1, "dQ_of_fp16x3_sums");
  launches.insert(launches.begin() + 2, split);
  return launches;
}

}  // namespace flashlab::cuda
