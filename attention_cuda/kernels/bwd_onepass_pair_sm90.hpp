// The tiles and launches of bwd_onepass_pair_sm90.cu.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"

namespace flashlab::cuda {

/// Pairs of blocks with 64 keys each. In each, two warpgroups have half of the columns each, and one more
/// loads. Of three panels of columns, the first block and the first warpgroup have two.
struct BwdPairShape {
  int head_dim;  // the largest that it takes

  static constexpr int kBlocks = 2, kOwnKeys = WgmmaShape::kRowsOfWarpgroup;
  static constexpr int kBlockQ = kOwnKeys, kBlockKV = kBlocks * kOwnKeys;
  static constexpr int kComputing = BwdWgmmaShape::kComputing;
  static constexpr int kNumThreads = BwdWgmmaShape::kNumThreads;
  static constexpr int kStages = 2;  // of sQ, sP, sdS and the statistics of queries
  /// Each warpgroup of a pair adds its part of a tile of dQ by itself.
  static constexpr int kTurnsOfTile = kBlocks * kComputing;
  /// 64 rows of 64 columns.
  static constexpr int kPanelBytes = kOwnKeys * BwdWgmmaShape::kPanelRowBytes;
  /// lse and delta of each query, in fp32.
  static constexpr int kStatisticsBytes = 2 * 4 * kBlockQ;
  /// The first query that sees each key, and the number of them.
  static constexpr int kLimitsBytes = 8 * kOwnKeys;
  /// Two for K and V, two for dO; two for each stage of Q, one of P^T and one of dS^T; two for the turns
  /// of each warpgroup.
  static constexpr int kBarrierBytes = 8 * (4 + 4 * kStages + 2 * kComputing);

  constexpr int num_panels() const { return head_dim / WgmmaShape::kPanelColumns; }
  constexpr int half_panels() const { return (num_panels() + 1) / 2; }
  constexpr int half_columns() const { return half_panels() * WgmmaShape::kPanelColumns; }
  /// K and V, half of the other block's K; Q and dO; P^T, and dS^T of both blocks.
  constexpr int panels_in_shared_memory() const {
    return 2 * num_panels() + half_panels() + (kStages + 1) * num_panels() +
           kStages * (1 + kBlocks);
  }
  constexpr int shared_bytes() const {
    return panels_in_shared_memory() * kPanelBytes + kStages * kStatisticsBytes + kLimitsBytes +
           kBarrierBytes + WgmmaShape::kAlignment;
  }
};

inline constexpr BwdPairShape kBwdPairShapes[] = {{192}, {256}};
inline constexpr int kBwdPairMostHeadDim = 256;

/// That of a head_dim.
constexpr const BwdPairShape& bwd_pair_shape(std::int64_t head_dim) {
  return kBwdPairShapes[index_of_shape(kBwdPairShapes, head_dim)];
}

/// The first block of a pair, and one pair of tiles: S^T and dP^T of its own keys, half of the columns of
/// dQ for the keys of both. P^T and dS^T go through shared memory; dS^T also to the other block's.
inline BlockWork bwd_pair_work(const BwdPairShape& shape) {
  constexpr std::int64_t kQueries = BwdPairShape::kBlockQ, kKeys = BwdPairShape::kOwnKeys,
                         kRows = BwdPairShape::kOwnKeys;
  const std::int64_t head_dim = shape.head_dim, half = shape.half_columns();
  BlockWork work = wgmma_work(BwdPairShape::kComputing);
  const BlockProduct scores = {kKeys,    kQueries,         head_dim,        kRows,
                               kQueries, Operand::kShared, Operand::kShared};
  const BlockProduct gradient = {kKeys,
                                 head_dim,
                                 kQueries,
                                 kRows,
                                 shape.num_panels() % 2 == 0 ? half : WgmmaShape::kPanelColumns,
                                 Operand::kShared,
                                 Operand::kSharedColumns};
  work.products = {scores,
                   scores,
                   gradient,
                   gradient,
                   {kQueries, half, 2 * kKeys, kRows, half / BwdPairShape::kComputing,
                    Operand::kShared, Operand::kSharedColumns}};
  work.drains = 2;  // before dS^T, and at the end
  work.score_instructions = kScoreGradientInstructions;
  work.first_bytes = 2 * 2 * head_dim * 2 * kRows;
  work.stored.bytes = 3 * BwdPairShape::kPanelBytes;
  work.loaded.bytes = BwdPairShape::kPanelBytes;
  work.added.bytes = 4 * kQueries * half;
  work.mbarrier_waits = work.mbarrier_arrivals = 6;  // Q, halves of dO, P^T, dS^T, room for both
  work.order = BlockOrder::kLongestFirst;
  store_sums(work, 2 * kKeys * head_dim, 2);
  return work;
}

/// Both blocks of a pair load Q, dO, lse and delta. Each loads K and V of its own keys, and half of the
/// columns of the other's K. They send dS^T to each other: counters have it on both sides.
inline MovedBytes bwd_pair_moved(const TilesRequest& request, const BwdPairShape& shape) {
  constexpr std::int64_t kBlocks = BwdPairShape::kBlocks;
  const AttentionProblem& problem = request.problem;
  const std::int64_t pairs =
                         visible_tile_pairs(problem, BwdPairShape::kBlockQ, BwdPairShape::kBlockKV),
                     row_bytes = problem.head_dim * request.element_bytes(),
                     keys_bytes = request.kv_heads() * problem.seqlen_k * row_bytes,
                     sent = kBlocks * BwdPairShape::kPanelBytes,
                     queries =
                         2 * BwdPairShape::kBlockQ * row_bytes + BwdPairShape::kStatisticsBytes,
                     sums = 4 * BwdPairShape::kBlockQ * shape.head_dim;
  return {pairs * (kBlocks * queries + sent) + 2 * keys_bytes + keys_bytes / 2,
          pairs * (sums + sent) + 2 * keys_bytes};
}

inline Launches bwd_onepass_pair_launches(const TilesRequest& request) {
  const BwdPairShape& shape = bwd_pair_shape(request.problem.head_dim);
  LaunchTiles gradients = for_dKV(
      backward_tiles("bwd_onepass_pair_sm90", "Gradients", BwdPairShape::kBlockQ,
                     BwdPairShape::kBlockKV, BwdPairShape::kNumThreads, shape.shared_bytes()),
      request);
  gradients.num_blocks *= BwdPairShape::kBlocks;
  gradients.block_work = bwd_pair_work(shape);
  gradients.moved = bwd_pair_moved(request, shape);
  return bwd_wgmma_launches(request, gradients, shape.head_dim, shape.num_panels(),
                            "dQ_of_wgmma_sums", BwdPairShape::kTurnsOfTile);
}

}  // namespace flashlab::cuda
