// The tiles and launches of bwd_twopass_wgmma_sm90.cu.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"

namespace flashlab::cuda {

/// The pass for dQ: two warpgroups of 64 queries each, and one more that loads.
struct QueryPassShape {
  int head_dim;  // the largest that it takes
  int block_kv;

  static constexpr int kComputing = 2;
  static constexpr int kBlockQ = kComputing * WgmmaShape::kRowsOfWarpgroup;
  static constexpr int kNumThreads = WgmmaShape::kWarpgroupThreads * (kComputing + 1);
  /// K is needed for a tile longer than V.
  static constexpr int kStagesK = 3, kStagesV = 2;
  static constexpr int kPanelRowBytes = BwdWgmmaShape::kPanelRowBytes;
  /// One for Q and dO; "full" and "empty" for each stage of K and V.
  static constexpr int kBarrierBytes = 8 * (1 + 2 * (kStagesK + kStagesV));

  constexpr int num_panels() const { return head_dim / WgmmaShape::kPanelColumns; }
  constexpr int queries_bytes() const { return kBlockQ * num_panels() * kPanelRowBytes; }
  constexpr int keys_bytes() const { return block_kv * num_panels() * kPanelRowBytes; }
  constexpr int shared_bytes() const {
    return 2 * queries_bytes() + (kStagesK + kStagesV) * keys_bytes() + kBarrierBytes +
           WgmmaShape::kAlignment;
  }
};

/// For dQ, and for dK and dV. With 128 queries, head_dim 64 would need more registers than there are.
inline constexpr QueryPassShape kQueryPassShapes[] = {{64, 128}, {128, 64}};
inline constexpr BwdWgmmaShape kKeyPassShapes[] = {{64, 64}, {128, 64}};

/// The row of both tables for a head_dim.
constexpr int two_pass_wgmma_index(std::int64_t head_dim) {
  return index_of_shape(kKeyPassShapes, head_dim);
}

/// dQ of one pair of tiles. dS stays in registers.
inline BlockWork wgmma_query_work(const QueryPassShape& shape) {
  const std::int64_t queries = QueryPassShape::kBlockQ, keys = shape.block_kv,
                     head_dim = shape.head_dim, rows = WgmmaShape::kRowsOfWarpgroup;
  BlockWork work = wgmma_work(QueryPassShape::kComputing);
  const BlockProduct scores = {queries,         keys, head_dim, rows, keys, Operand::kShared,
                               Operand::kShared};
  work.products = {
      scores,
      scores,
      {queries, head_dim, keys, rows, head_dim, Operand::kResults, Operand::kSharedColumns}};
  work.score_instructions = kScoreGradientInstructions;
  work.first_bytes = 2 * (shape.queries_bytes() + shape.keys_bytes());
  work.mbarrier_waits = work.mbarrier_arrivals = 2;  // K and V
  store_sums(work, queries * head_dim, 2);
  return work;
}

inline Launches bwd_twopass_wgmma_launches(const TilesRequest& request) {
  const int index = two_pass_wgmma_index(request.problem.head_dim);
  const QueryPassShape& queries = kQueryPassShapes[index];
  const BwdWgmmaShape& keys = kKeyPassShapes[index];
  LaunchTiles key_pass = for_dKV(
      backward_tiles("bwd_twopass_dKdV_wgmma_sm90", "dK and dV", keys.block_q,
                     BwdWgmmaShape::kBlockKV, BwdWgmmaShape::kNumThreads, keys.shared_bytes()),
      request);
  if (request.problem.seqlen_q > 0) key_pass = several_per_block(key_pass, request);
  key_pass.block_work = bwd_wgmma_key_work(keys, false);
  LaunchTiles dQ =
      for_dQ(backward_tiles("bwd_twopass_dQ_wgmma_sm90", "dQ", QueryPassShape::kBlockQ,
                            queries.block_kv, QueryPassShape::kNumThreads, queries.shared_bytes()),
             request);
  dQ.block_work = wgmma_query_work(queries);
  return {delta_launch(request), dQ, key_pass};
}

}  // namespace flashlab::cuda
