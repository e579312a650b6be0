// The tiles and launches of flash2_wgmma_sm90.cu.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// Warpgroups of 64 queries each, and one more that loads.
struct WgmmaShape {
  int head_dim;  // the largest that it takes
  int computing, block_kv;
  bool takes_turns;  // the warpgroups issue their products one after the other

  static constexpr int kStages = 2;  // of sK and of sV
  static constexpr int kWarpgroupThreads = 128, kRowsOfWarpgroup = 64;
  static constexpr int kAlignment = 1024, kBarrierBytes = 8 * (1 + 4 * kStages);
  static constexpr int kPanelColumns = 64;

  constexpr int block_q() const { return kRowsOfWarpgroup * computing; }
  /// Panels of 64 columns; the last one may be half full.
  constexpr int num_panels() const { return (head_dim + kPanelColumns - 1) / kPanelColumns; }
  constexpr int num_threads() const { return kWarpgroupThreads * (computing + 1); }
  /// sQ, kStages each of sK and sV, and mbarriers, from a multiple of kAlignment on.
  constexpr int shared_bytes() const {
    const int row_bytes = 2 * kPanelColumns * num_panels();
    return row_bytes * (block_q() + 2 * kStages * block_kv) + kBarrierBytes + kAlignment;
  }
};

/// By head_dim: without a mask, then with one or with key lengths.
inline constexpr WgmmaShape kWgmmaShapes[][2] = {
    // head_dim, computing warpgroups, keys, turns
    {{64, 3, 128, true}, {64, 3, 128, true}},
    {{96, 2, 176, false}, {96, 2, 128, false}},
    {{128, 2, 176, false}, {128, 2, 128, false}},
    {{192, 2, 112, false}, {192, 2, 96, false}},
    {{256, 2, 80, false}, {256, 2, 80, false}}};

/// The row of kWgmmaShapes for a head_dim.
constexpr int wgmma_index(std::int64_t head_dim) {
  int index = 0;
  while (head_dim > kWgmmaShapes[index][0].head_dim) ++index;
  return index;
}

inline Launches flash2_wgmma_launches(const TilesRequest& request) {
  const WgmmaShape& shape =
      kWgmmaShapes[wgmma_index(request.problem.head_dim)][request.is_masked() ? 1 : 0];
  LaunchTiles launch = query_tiles("flash2_wgmma_sm90", shape, shape.shared_bytes(), request);
  return {launch};
}

}  // namespace flashlab::cuda
