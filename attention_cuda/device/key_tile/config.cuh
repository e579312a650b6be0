// The constants of a block of the tensor-core backward pass that owns a K/V tile
// (device/key_tile/backward_key_tile.cuh).
#pragma once

#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/device/shared_tile.cuh"

namespace flashlab::cuda {

template <class TensorCoreType, int kPaddedHeadDim, KeyTileShape kShape, bool kIsWithDQ>
struct KeyTileConfig {
  using TensorCore = TensorCoreType;
  using Element = typename TensorCore::Element;
  static constexpr int kHeadDim = kPaddedHeadDim;
  static constexpr int kBlockQ = kShape.block_q, kBlockKV = kShape.block_kv;
  static constexpr int kWarps = kShape.warps, kNumThreads = kWarps * 32;
  static constexpr int kStages = kShape.stages;
  static constexpr int kMinBlocks = kShape.min_blocks;
  static constexpr bool kWithDQ = kIsWithDQ;

  static constexpr int kWarpKeys = kShape.warp_keys, kRowTiles = kWarpKeys / 16;
  static constexpr int kKeyWarps = kBlockKV / kWarpKeys, kColumnWarps = kShape.column_warps();
  static constexpr int kWarpColumns = kHeadDim / kColumnWarps;
  static constexpr bool kSharesScores = kShape.shares_scores(sizeof(Element));
  static constexpr int kWarpChunk = kSharesScores ? kBlockQ / kColumnWarps : kShape.chunk;

  static constexpr int kWarpsQ = kShape.warps_q, kWarpsD = kWarps / kWarpsQ;
  static constexpr int kWarpQueriesDQ = kBlockQ / kWarpsQ, kWarpColumnsDQ = kHeadDim / kWarpsD;
  static constexpr int kTileElements = kBlockQ * kHeadDim;

  using KeyTile = SharedTile<Element, kBlockKV, kHeadDim>;
  using QueryTile = SharedTile<Element, kBlockQ, kHeadDim>;
  using GradientTile = SharedTile<Element, kBlockKV, kBlockQ>;
  static constexpr int kGradientTiles = kShape.gradient_tiles(sizeof(Element), kWithDQ);
  static constexpr int kFactsBytes = KeyTileShape::kFactsBytes;
  static constexpr int kSharedBytes = 2 * KeyTile::kBytes + 2 * kStages * QueryTile::kBytes +
                                      kGradientTiles * GradientTile::kBytes +
                                      4 * kStages * kBlockQ * static_cast<int>(sizeof(float)) +
                                      kFactsBytes;

  static_assert(kSharedBytes == kShape.shared_bytes(kHeadDim, sizeof(Element), kWithDQ));
  static_assert(kSharedBytes <= 227 << 10, "shared memory of compute capability 9.0");
  static_assert(kKeyWarps * kWarpKeys == kBlockKV && kColumnWarps * kKeyWarps == kWarps);
  static_assert(kStages == 1 || kStages == 2);
  static_assert(kBlockQ % kWarpChunk == 0 && kWarpChunk % 16 == 0 && kBlockQ <= kNumThreads);
  static_assert(!kWithDQ || (kWarpQueriesDQ % 16 == 0 && kWarpColumnsDQ % 16 == 0));
};

}  // namespace flashlab::cuda
