// The tiles and launches of flash2_wgmma_sm90.cu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// Warpgroups of 64 queries each, and one more that loads.
struct WgmmaShape {
  int head_dim;  // the largest that it takes
  int computing, block_kv;
  int stages_k, stages_v;  // of sK and of sV
  int longest_pairs;       // keys up to which blocks take pairs of query tiles under a causal mask
  bool counts_units = false;  // blocks take units that differ from a counter
  // What makes the kernel fast. bench/flash2_steps.cu leaves each of them out.
  bool overlaps = true;        // Q K^T of a tile runs beside P V of the one before
  bool takes_turns = true;     // the warpgroups issue their products one after the other
  bool compares_three = true;  // scores at a time in the search for the maximum

  static constexpr int kWarpgroupThreads = 128, kRowsOfWarpgroup = 64;
  static constexpr int kAlignment = 1024;
  static constexpr int kPanelColumns = 64;
  static constexpr int kUnitSlots = 2;

  constexpr int block_q() const { return kRowsOfWarpgroup * computing; }
  /// Panels of 64 columns; the last one may be half full.
  constexpr int num_panels() const { return (head_dim + kPanelColumns - 1) / kPanelColumns; }
  /// mbarriers, and the numbers of units.
  constexpr int barrier_bytes() const {
    const int slots = counts_units ? kUnitSlots : 0;
    return 8 * 2 * (stages_k + stages_v + computing + slots) + 4 * slots;
  }
  constexpr int num_threads() const { return kWarpgroupThreads * (computing + 1); }
  /// sQ, the stages of sK and sV, and mbarriers, from a multiple of kAlignment on.
  constexpr int shared_bytes() const {
    const int row_bytes = 2 * kPanelColumns * num_panels();
    return row_bytes * (block_q() + (stages_k + stages_v) * block_kv) + barrier_bytes() +
           kAlignment;
  }
};

inline constexpr WgmmaShape kWgmmaShapes[] = {
    // head_dim, computing warpgroups, keys, stages of K and of V, longest pairs, counter for other units
    {64, 3, 128, 3, 3, 1024},
    {96, 2, 128, 3, 3, 4096},
    {128, 2, 128, 3, 3, 0, true},
    {192, 2, 96, 2, 2, 4096},
    {256, 2, 64, 2, 2, 2048, true}};

/// The row of kWgmmaShapes for a head_dim.
constexpr int wgmma_index(std::int64_t head_dim) {
  int index = 0;
  while (head_dim > kWgmmaShapes[index].head_dim) ++index;
  return index;
}

/// What the blocks of a launch take: units of one query tile, or of a long and a short one that
/// together are as long as all other pairs.
struct WgmmaSchedule {
  std::int64_t num_q_tiles;  // of a head
  // The tiles end with the last query, and the first one is short. Under a causal mask it has few
  // keys, so few that it does not matter if only one warpgroup has queries.
  std::int64_t rows_before;  // of the first tile, before query 0: those of whole warpgroups
  bool is_paired;
  std::int64_t units_of_head;
  std::int64_t num_blocks;  // fewer than units: each block takes several
  bool takes_from_counter;  // not in turn
};

/// Blocks that take several units load the next one's K while they finish one. Units that differ (key lengths, packed
/// sequences, windows, offsets), or long causal ones, come from a counter, the longest first; where there is none, they have a
/// block each: the GPU starts the next block where one ends. Measured: docs/attention_cuda_log.md.
inline WgmmaSchedule wgmma_schedule(const AttentionProblem& problem, const WgmmaShape& shape,
                                    bool is_ragged, int num_multiprocessors) {
  const bool is_causal = problem.mask != Mask::kNone;
  const bool is_even = !is_ragged && !problem.has_window() && problem.query_offset == 0;
  WgmmaSchedule schedule = {};
  schedule.num_q_tiles = num_tiles(problem.seqlen_q, shape.block_q());
  schedule.rows_before =
      shape.kRowsOfWarpgroup * (schedule.num_q_tiles * shape.computing -
                                num_tiles(problem.seqlen_q, shape.kRowsOfWarpgroup));
  schedule.is_paired = is_causal && is_even && problem.seqlen_k <= shape.longest_pairs;
  schedule.units_of_head =
      schedule.is_paired ? num_tiles(schedule.num_q_tiles, 2) : schedule.num_q_tiles;
  schedule.num_blocks = problem.batch * problem.num_heads * schedule.units_of_head;
  const bool has_equal_units = is_even && (!is_causal || schedule.is_paired);
  schedule.takes_from_counter = shape.counts_units && !has_equal_units;
  if (has_equal_units || schedule.takes_from_counter) {
    schedule.num_blocks = std::min<std::int64_t>(schedule.num_blocks, num_multiprocessors);
  }
  return schedule;
}

/// The bytes of all heads. The toy program's tiles begin with query 0, these end with the last one.
inline MovedBytes wgmma_moved(const AttentionProblem& problem, const WgmmaShape& shape,
                              const WgmmaSchedule& schedule) {
  std::int64_t keys_loaded = 0;  // of one head, in all batch entries
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t tile = 0; tile < schedule.num_q_tiles; ++tile) {
      const std::int64_t begin = tile * shape.block_q() - schedule.rows_before;
      const std::int64_t first = std::max<std::int64_t>(begin, 0),
                         last = std::min(begin + shape.block_q(), problem.seqlen_q) - 1;
      const KeyRange seen = {problem.visible_keys(b, first).first,
                             problem.visible_keys(b, last).end};
      const std::int64_t tiles = num_tiles(std::max<std::int64_t>(seen.count(), 0), shape.block_kv);
      keys_loaded += std::min(tiles * shape.block_kv, problem.seqlen_k - seen.first);
    }
  }
  const std::int64_t rows = problem.batch * problem.num_heads * problem.seqlen_q,
                     row_bytes = problem.head_dim * size_in_bytes(problem.dtype);
  constexpr std::int64_t kLseBytes = 4;
  return {(rows + 2 * problem.num_heads * keys_loaded) * row_bytes, rows * (row_bytes + kLseBytes)};
}

/// S = Q K^T and O += P V of one pair of tiles.
inline BlockWork flash2_wgmma_work(const WgmmaShape& shape) {
  const std::int64_t block_q = shape.block_q(), keys = shape.block_kv, head_dim = shape.head_dim,
                     rows = WgmmaShape::kRowsOfWarpgroup;
  BlockWork work = wgmma_work(shape.computing);
  work.products = {
      {block_q, keys, head_dim, rows, keys, Operand::kShared, Operand::kShared},
      {block_q, head_dim, keys, rows, head_dim, Operand::kResults, Operand::kSharedColumns}};
  work.score_instructions =
      2.5;                // the multiply-add in the exponent, the sum, half a maximum of three
  work.num_barriers = 1;  // the warpgroups' turns
  work.mbarrier_waits = work.mbarrier_arrivals = 2;  // K and V
  store_sums(work, block_q * head_dim, 2);
  work.first_bytes = 2 * head_dim * (block_q + keys);
  return work;
}

inline Launches flash2_wgmma_launches(const TilesRequest& request) {
  const WgmmaShape& shape = kWgmmaShapes[wgmma_index(request.problem.head_dim)];
  LaunchTiles launch = query_tiles("flash2_wgmma_sm90", shape, shape.shared_bytes(), request);
  launch.num_tiles_of_blocks = launch.num_blocks;
  const bool is_ragged = !request.problem.key_lengths.empty() || request.problem.is_packed();
  const WgmmaSchedule schedule =
      wgmma_schedule(request.problem, shape, is_ragged, request.gpu.num_multiprocessors);
  launch.num_blocks = schedule.num_blocks;
  if (request.is_masked()) launch.moved = wgmma_moved(request.problem, shape, schedule);
  launch.block_work = flash2_wgmma_work(shape);
  launch.block_work->order = schedule.is_paired ? BlockOrder::kPairs : BlockOrder::kLongestFirst;
  return {launch};
}

}  // namespace flashlab::cuda
