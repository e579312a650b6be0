// The tiles and launches of bwd_onepass_pair_sm90.cu.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"

namespace flashlab::cuda {

/// Pairs of blocks with 64 keys each. In each, two warpgroups have half of the columns each, and one more
/// loads.
struct BwdPairShape {
  static constexpr int kMostHeadDim = 256, kPanels = kMostHeadDim / WgmmaShape::kPanelColumns;
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
  /// K and V, half of the other block's K; Q and dO; P^T, and dS^T of both blocks.
  static constexpr int kNumPanels =
      2 * kPanels + kPanels / 2 + (kStages + 1) * kPanels + kStages * (1 + kBlocks);
  static constexpr int kSharedBytes = kNumPanels * kPanelBytes + kStages * kStatisticsBytes +
                                      kLimitsBytes + kBarrierBytes + WgmmaShape::kAlignment;
};

/// One block of a pair, and one pair of tiles: S^T and dP^T of its own keys, half of the columns of
/// dQ for the keys of both. P^T and dS^T go through shared memory; dS^T also to the other block's.
inline BlockWork bwd_pair_work() {
  constexpr std::int64_t kQueries = BwdPairShape::kBlockQ, kKeys = BwdPairShape::kOwnKeys,
                         kHeadDim = BwdPairShape::kMostHeadDim, kRows = BwdPairShape::kOwnKeys,
                         kHalf = kHeadDim / 2;
  BlockWork work = wgmma_work(BwdPairShape::kComputing);
  const BlockProduct scores = {kKeys,    kQueries,         kHeadDim,        kRows,
                               kQueries, Operand::kShared, Operand::kShared};
  const BlockProduct gradient = {
      kKeys, kHeadDim, kQueries, kRows, kHalf, Operand::kShared, Operand::kSharedColumns};
  work.products = {scores,
                   scores,
                   gradient,
                   gradient,
                   {kQueries, kHalf, 2 * kKeys, kRows, kHalf / BwdPairShape::kComputing,
                    Operand::kShared, Operand::kSharedColumns}};
  work.drains = 2;  // before dS^T, and at the end
  work.score_instructions = kScoreGradientInstructions;
  work.first_bytes = 2 * 2 * kHeadDim * 2 * kRows;
  work.stored.bytes = 3 * BwdPairShape::kPanelBytes;
  work.loaded.bytes = BwdPairShape::kPanelBytes;
  work.added.bytes = 4 * kQueries * kHalf;
  work.mbarrier_waits = work.mbarrier_arrivals = 6;  // Q, halves of dO, P^T, dS^T, room for both
  work.order = BlockOrder::kLongestFirst;
  store_sums(work, 2 * kKeys * kHeadDim, 2);
  return work;
}

/// Both blocks of a pair load Q, dO, lse and delta. Each loads K and V of its own keys, and half of the
/// columns of the other's K. They send dS^T to each other: counters have it on both sides.
inline MovedBytes bwd_pair_moved(const TilesRequest& request) {
  constexpr std::int64_t kBlocks = BwdPairShape::kBlocks;
  const AttentionProblem& problem = request.problem;
  const std::int64_t pairs =
                         visible_tile_pairs(problem, BwdPairShape::kBlockQ, BwdPairShape::kBlockKV),
                     row_bytes = problem.head_dim * request.element_bytes(),
                     keys_bytes = request.kv_heads() * problem.seqlen_k * row_bytes,
                     sent = kBlocks * BwdPairShape::kPanelBytes,
                     queries =
                         2 * BwdPairShape::kBlockQ * row_bytes + BwdPairShape::kStatisticsBytes,
                     sums = 4 * BwdPairShape::kBlockQ * BwdPairShape::kMostHeadDim;
  return {pairs * (kBlocks * queries + sent) + 2 * keys_bytes + keys_bytes / 2,
          pairs * (sums + sent) + 2 * keys_bytes};
}

inline Launches bwd_onepass_pair_launches(const TilesRequest& request) {
  LaunchTiles gradients = for_dKV(
      backward_tiles("bwd_onepass_pair_sm90", "Gradients", BwdPairShape::kBlockQ,
                     BwdPairShape::kBlockKV, BwdPairShape::kNumThreads, BwdPairShape::kSharedBytes),
      request);
  gradients.num_blocks *= BwdPairShape::kBlocks;
  gradients.block_work = bwd_pair_work();
  gradients.moved = bwd_pair_moved(request);
  return bwd_wgmma_launches(request, gradients, BwdPairShape::kMostHeadDim,
                            BwdPairShape::kBlocks * BwdPairShape::kComputing, "dQ_of_wgmma_sums",
                            BwdPairShape::kTurnsOfTile);
}

}  // namespace flashlab::cuda
