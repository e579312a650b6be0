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
  /// 64 rows of 64 columns.
  static constexpr int kPanelBytes = kOwnKeys * BwdWgmmaShape::kPanelRowBytes;
  /// lse and delta of each query, in fp32.
  static constexpr int kStatisticsBytes = 2 * 4 * kBlockQ;
  /// The first query that sees each key, and the number of them.
  static constexpr int kLimitsBytes = 8 * kOwnKeys;
  /// Two for K and V, two for dO; two for each stage of Q, one of P^T and one of dS^T.
  static constexpr int kBarrierBytes = 8 * (4 + 4 * kStages);
  /// K and V, half of the other block's K; Q and dO; P^T, and dS^T of both blocks.
  static constexpr int kNumPanels =
      2 * kPanels + kPanels / 2 + (kStages + 1) * kPanels + kStages * (1 + kBlocks);
  static constexpr int kSharedBytes = kNumPanels * kPanelBytes + kStages * kStatisticsBytes +
                                      kLimitsBytes + kBarrierBytes + WgmmaShape::kAlignment;
};

inline Launches bwd_onepass_pair_launches(const TilesRequest& request) {
  LaunchTiles gradients = for_dKV(
      backward_tiles("bwd_onepass_pair_sm90", "Gradients", BwdPairShape::kBlockQ,
                     BwdPairShape::kBlockKV, BwdPairShape::kNumThreads, BwdPairShape::kSharedBytes),
      request);
  gradients.num_blocks *= BwdPairShape::kBlocks;
  return bwd_wgmma_launches(request, gradients, BwdPairShape::kMostHeadDim,
                            BwdPairShape::kBlocks * BwdPairShape::kComputing);
}

}  // namespace flashlab::cuda
