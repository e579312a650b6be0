// The tiles and launches of flash2_wgmma_sm90.cu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// Warpgroups of 64 queries each, and one more that loads.
struct WgmmaShape {
  int head_dim;  // the largest that it takes
  int computing, block_kv;
  bool takes_turns;   // the warpgroups issue their products one after the other
  int longest_pairs;  // keys up to which blocks take pairs of query tiles under a causal mask

  static constexpr int kStages = 2;  // of sK and of sV
  static constexpr int kWarpgroupThreads = 128, kRowsOfWarpgroup = 64;
  static constexpr int kAlignment = 1024;
  static constexpr int kPanelColumns = 64;

  constexpr int block_q() const { return kRowsOfWarpgroup * computing; }
  /// Panels of 64 columns; the last one may be half full.
  constexpr int num_panels() const { return (head_dim + kPanelColumns - 1) / kPanelColumns; }
  constexpr int barrier_bytes() const { return 8 * (4 * kStages + 2 * computing); }
  constexpr int num_threads() const { return kWarpgroupThreads * (computing + 1); }
  /// sQ, kStages each of sK and sV, and mbarriers, from a multiple of kAlignment on.
  constexpr int shared_bytes() const {
    const int row_bytes = 2 * kPanelColumns * num_panels();
    return row_bytes * (block_q() + 2 * kStages * block_kv) + barrier_bytes() + kAlignment;
  }
};

/// By head_dim: without a mask, then with one or with key lengths.
inline constexpr WgmmaShape kWgmmaShapes[][2] = {
    // head_dim, computing warpgroups, keys, turns, longest pairs
    {{64, 3, 128, true, 1024}, {64, 3, 128, true, 1024}},
    {{96, 2, 176, false, 4096}, {96, 2, 128, false, 4096}},
    {{128, 2, 176, false, 4096}, {128, 2, 128, false, 4096}},
    {{192, 2, 112, false, 4096}, {192, 2, 96, false, 4096}},
    {{256, 2, 80, false, 4096}, {256, 2, 80, false, 4096}}};

/// The row of kWgmmaShapes for a head_dim.
constexpr int wgmma_index(std::int64_t head_dim) {
  int index = 0;
  while (head_dim > kWgmmaShapes[index][0].head_dim) ++index;
  return index;
}

/// What the blocks of a launch take: units of one query tile, or of a long and a short one that
/// together are as long as all other pairs.
struct WgmmaSchedule {
  std::int64_t num_q_tiles;  // of a head
  bool is_paired;
  std::int64_t num_units;   // of all heads
  std::int64_t num_blocks;  // fewer than units: each block takes several in turn
};

/// Blocks that take equal units in turn load the next unit's K while they finish one. Units that
/// differ, or long causal ones, have a block each: the GPU starts the next block where one ends.
/// Measured on an H200: docs/attention_cuda_log.md.
inline WgmmaSchedule wgmma_schedule(const AttentionProblem& problem, const WgmmaShape& shape,
                                    bool has_key_lengths, int num_multiprocessors) {
  const bool is_causal = problem.mask != Mask::kNone;
  WgmmaSchedule schedule = {num_tiles(problem.seqlen_q, shape.block_q()), false, 0, 0};
  schedule.is_paired = is_causal && !has_key_lengths && problem.seqlen_k <= shape.longest_pairs;
  schedule.num_units =
      problem.batch * problem.num_heads *
      (schedule.is_paired ? num_tiles(schedule.num_q_tiles, 2) : schedule.num_q_tiles);
  const bool takes_several = !has_key_lengths && (!is_causal || schedule.is_paired);
  schedule.num_blocks = takes_several
                            ? std::min<std::int64_t>(schedule.num_units, num_multiprocessors)
                            : schedule.num_units;
  return schedule;
}

inline Launches flash2_wgmma_launches(const TilesRequest& request) {
  const WgmmaShape& shape =
      kWgmmaShapes[wgmma_index(request.problem.head_dim)][request.is_masked() ? 1 : 0];
  LaunchTiles launch = query_tiles("flash2_wgmma_sm90", shape, shape.shared_bytes(), request);
  launch.num_query_tiles = launch.num_blocks;
  launch.num_blocks = wgmma_schedule(request.problem, shape, !request.problem.key_lengths.empty(),
                                     request.gpu.num_multiprocessors)
                          .num_blocks;
  return {launch};
}

}  // namespace flashlab::cuda
