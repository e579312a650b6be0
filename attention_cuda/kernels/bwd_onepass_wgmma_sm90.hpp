// The tiles and launches of bwd_onepass_wgmma_sm90.cu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention_cuda/detail/backward_launches.hpp"
#include "attention_cuda/kernels/flash2_wgmma_sm90.hpp"

namespace flashlab::cuda {

/// Two warpgroups of 64 keys each, and one more that loads.
struct BwdWgmmaShape {
  int head_dim;  // the largest that it takes
  int block_q;

  static constexpr int kComputing = 2, kRowsOfWarpgroup = WgmmaShape::kRowsOfWarpgroup;
  static constexpr int kBlockKV = kComputing * kRowsOfWarpgroup;
  static constexpr int kNumThreads = WgmmaShape::kWarpgroupThreads * (kComputing + 1);
  static constexpr int kStages = 2;  // of sQ, sdO, sdS and the statistics of queries
  static constexpr int kPanelRowBytes = 2 * WgmmaShape::kPanelColumns;

  /// Of sK. A second one is faster at head_dim 64, and not at 128.
  constexpr int key_stages() const { return head_dim <= 64 ? 2 : 1; }
  /// The last one may be half full.
  constexpr int num_panels() const {
    return (head_dim + WgmmaShape::kPanelColumns - 1) / WgmmaShape::kPanelColumns;
  }
  constexpr int keys_bytes() const { return kBlockKV * num_panels() * kPanelRowBytes; }
  constexpr int queries_bytes() const { return block_q * num_panels() * kPanelRowBytes; }
  /// dS^T [kBlockKV, block_q].
  constexpr int gradient_bytes() const { return kBlockKV * 2 * block_q; }
  /// fp32 sums of dQ, of all warpgroups.
  constexpr int sums_bytes() const { return 4 * block_q * head_dim; }
  /// lse and delta of each query, in fp32.
  constexpr int statistics_bytes() const { return 2 * 4 * block_q; }
  /// The first query that sees each key, and the number of them.
  static constexpr int kLimitsBytes = 8 * kBlockKV;
  /// The block's K/V tile, and the next one.
  static constexpr int kWorkBytes = 32;
  /// "Full" and "empty" for V, for each stage of K, Q, dO and dS^T, and for each of those K/V tiles;
  /// for each warpgroup's part of dQ, "full" for every second tile and one "empty".
  constexpr int barrier_bytes() const {
    return 8 * (2 + 2 * key_stages() + 6 * kStages + 3 * kComputing + 2 * 2);
  }
  /// From a multiple of WgmmaShape::kAlignment on.
  constexpr int shared_bytes() const {
    return (key_stages() + 1) * keys_bytes() +
           kStages * (2 * queries_bytes() + gradient_bytes() + statistics_bytes()) + sums_bytes() +
           kLimitsBytes + 2 * kWorkBytes + barrier_bytes();
  }
};

inline constexpr BwdWgmmaShape kBwdWgmmaShapes[] = {{64, 128}, {96, 64}, {128, 64}};
inline constexpr int kBwdWgmmaMostHeadDim = 128;

/// The first of these shapes, of which each takes longer rows than the one before, that takes head_dim; the
/// last one if none does.
template <class Shape, std::size_t kShapes>
constexpr int index_of_shape(const Shape (&shapes)[kShapes], std::int64_t head_dim) {
  int index = 0;
  while (index + 1 < static_cast<int>(kShapes) && shapes[index].head_dim < head_dim) ++index;
  return index;
}

/// The row of kBwdWgmmaShapes for a head_dim.
constexpr int bwd_wgmma_index(std::int64_t head_dim) {
  return index_of_shape(kBwdWgmmaShapes, head_dim);
}

/// The counters of a call: of K/V tiles, and with turns those of each tile of dQ. heads: of the batch.
constexpr std::int64_t bwd_wgmma_counters(std::int64_t heads, std::int64_t seqlen_q, bool has_turns,
                                          int turns_of_tile) {
  const std::int64_t tiles = heads * num_tiles(seqlen_q, BwdWgmmaShape::kRowsOfWarpgroup);
  return 1 + (has_turns ? tiles * turns_of_tile : 0);
}

/// The launches of a kernel whose dQ is the rounded sum of tiles [block_q, head_dim] in fp32. Calls that sum dQ
/// together set it to zero and compute delta in the first one, and round it in the last one.
/// num_warpgroups: of a block that rounds one, in the launch `dQ_launch`.
inline Launches bwd_wgmma_launches(const TilesRequest& request, const LaunchTiles& gradients,
                                   int head_dim, int num_warpgroups,
                                   std::string_view dQ_launch = "dQ_of_wgmma_sums",
                                   int turns_of_tile = 1) {
  const std::int64_t num_q_tiles =
                         request.heads() * num_tiles(request.problem.seqlen_q, gradients.block_q),
                     sums = num_q_tiles * 4 * gradients.block_q * head_dim,
                     dQ = request.rows() * request.problem.head_dim * request.element_bytes();
  LaunchTiles round = uncounted_launch(dQ_launch, num_q_tiles, {sums, dQ});
  round.num_threads = WgmmaShape::kWarpgroupThreads * num_warpgroups;
  constexpr std::int64_t kAlignment = 256;  // of arrays in the workspace
  const std::int64_t counters = bwd_wgmma_counters(request.heads(), request.problem.seqlen_q,
                                                   request.execution.deterministic, turns_of_tile);
  const bool is_first = !request.execution.continues_dQ;
  const std::int64_t zeros =
      num_tiles(4 * counters, kAlignment) * kAlignment + (is_first ? sums : 0);
  Launches launches = {zero_dQ_sums(num_q_tiles, zeros)};
  if (is_first) launches.push_back(delta_launch(request));
  launches.push_back(gradients);
  if (!request.execution.keeps_dQ) launches.push_back(round);
  return launches;
}

/// A launch in which each multiprocessor has one block, which takes one tile after the other.
inline LaunchTiles several_per_block(LaunchTiles launch, const TilesRequest& request) {
  launch.num_tiles_of_blocks = launch.num_blocks;
  launch.num_blocks = std::min<std::int64_t>(launch.num_blocks, request.gpu.num_multiprocessors);
  return launch;
}

/// dK and dV of one pair of tiles, and dQ if it is added to global memory. dS^T goes through shared
/// memory for dQ, and dQ on its way to global memory.
inline BlockWork bwd_wgmma_key_work(const BwdWgmmaShape& shape, bool with_dQ) {
  const std::int64_t keys = BwdWgmmaShape::kBlockKV, queries = shape.block_q,
                     head_dim = shape.head_dim, rows = BwdWgmmaShape::kRowsOfWarpgroup;
  BlockWork work = wgmma_work(BwdWgmmaShape::kComputing);
  const BlockProduct scores = {keys,    queries,          head_dim,        rows,
                               queries, Operand::kShared, Operand::kShared};
  const BlockProduct gradient = {
      keys, head_dim, queries, rows, head_dim, Operand::kResults, Operand::kSharedColumns};
  work.products = {scores, scores, gradient, gradient};
  work.score_instructions = kScoreGradientInstructions;
  work.first_bytes = 2 * (shape.keys_bytes() + shape.queries_bytes());
  work.order = BlockOrder::kLongestFirst;
  work.drains = 2;  // before the weights, or before dS^T; and at the end
  work.mbarrier_waits = work.mbarrier_arrivals = 2;  // Q and dO
  work.loaded = loaded_statistics(work.num_warps, queries);
  // Whether there are queries that see no key, in Q and in dO, and pairs that are hidden (9, 9, 6); the next
  // tile, of this head or the next one.
  work.tile_instructions += 9 + 9 + 6 + 20;
  store_sums(work, 2 * keys * head_dim, 2);
  if (!with_dQ) return work;
  work.mbarrier_waits += 3;  // dS^T of both warpgroups, room for it, and for the sums
  work.mbarrier_arrivals += 2;
  work.num_barriers = 1;
  // Each warpgroup has 64 queries, or a panel of the columns of the only 64.
  const bool divides_columns = queries == rows;
  work.products.push_back(
      {queries, divides_columns ? shape.num_panels() * WgmmaShape::kPanelColumns : head_dim, keys,
       rows, divides_columns ? WgmmaShape::kPanelColumns : head_dim, Operand::kShared,
       Operand::kSharedColumns});
  work.stored.bytes = shape.gradient_bytes() + shape.sums_bytes();
  work.added_in_bulk_bytes = shape.sums_bytes();
  return work;
}

inline Launches bwd_onepass_wgmma_launches(const TilesRequest& request) {
  const BwdWgmmaShape& shape = kBwdWgmmaShapes[bwd_wgmma_index(request.problem.head_dim)];
  LaunchTiles gradients = for_dKV(
      backward_tiles("bwd_onepass_wgmma_sm90", "Gradients", shape.block_q, BwdWgmmaShape::kBlockKV,
                     BwdWgmmaShape::kNumThreads, shape.shared_bytes()),
      request);
  gradients.block_work = bwd_wgmma_key_work(shape, true);
  return bwd_wgmma_launches(request, several_per_block(gradients, request), shape.head_dim,
                            BwdWgmmaShape::kComputing);
}

}  // namespace flashlab::cuda
