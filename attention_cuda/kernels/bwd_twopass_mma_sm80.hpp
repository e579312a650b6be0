// The tiles and launches of bwd-twopass on tensor cores, in 16 bits and in tf32.
#pragma once

#include "attention_cuda/detail/backward_launches.hpp"
#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/detail/backward_works.hpp"

namespace flashlab::cuda {

/// bwd-twopass, for dQ.
inline constexpr QueryTileShape kTwoPassQueryShapes16[] = {
    // warps, queries per warp, keys, chunk, stages, blocks per SM
    {4, 32, 64, 32, 2, 2},
    {4, 32, 64, 64, 2, 2},
    {4, 32, 32, 32, 2, 2},
    {4, 16, 16, 16, 2, 2}};
/// [0] one tf32 product, [1] three per product, whose operands take twice the registers.
inline constexpr QueryTileShape kTwoPassQueryShapesTf32[2][4] = {
    {{4, 32, 32, 32, 2, 2}, {4, 32, 32, 32, 2, 2}, {4, 16, 16, 16, 2, 2}, {2, 16, 16, 16, 1, 2}},
    {{4, 32, 32, 32, 2, 2}, {4, 32, 32, 16, 2, 2}, {4, 16, 16, 16, 2, 2}, {2, 16, 16, 16, 1, 2}}};
/// For dK and dV, without warps_q.
inline constexpr KeyTileShape kTwoPassKeyShapes16[] = {{64, 128, 4, 32, 32, 2, 1, 2},
                                                       {64, 128, 4, 32, 32, 2, 1, 2},
                                                       {64, 64, 4, 16, 32, 2, 1, 2},
                                                       {16, 64, 8, 16, 16, 2, 1, 1}};
inline constexpr KeyTileShape kTwoPassKeyShapesTf32[2][4] = {{{32, 128, 4, 32, 32, 2, 1, 2},
                                                              {16, 128, 4, 32, 16, 2, 1, 2},
                                                              {16, 64, 4, 16, 16, 2, 1, 2},
                                                              {16, 32, 4, 16, 16, 1, 1, 1}},
                                                             {{32, 128, 4, 32, 32, 2, 1, 2},
                                                              {32, 64, 4, 16, 16, 2, 1, 2},
                                                              {16, 64, 8, 16, 16, 2, 1, 1},
                                                              {16, 32, 4, 16, 16, 1, 1, 1}}};

inline Launches bwd_twopass_mma_launches(const TilesRequest& request) {
  const int index = head_dim_index(request.problem.head_dim), bytes = request.element_bytes();
  const int splits = request.execution.products == Products::kTensorFloat32x3 ? 1 : 0;
  const QueryTileShape& queries =
      bytes == 2 ? kTwoPassQueryShapes16[index] : kTwoPassQueryShapesTf32[splits][index];
  const KeyTileShape& keys =
      bytes == 2 ? kTwoPassKeyShapes16[index] : kTwoPassKeyShapesTf32[splits][index];
  LaunchTiles dQ =
      for_dQ(backward_tiles("bwd_twopass_dQ_mma_sm80", "dQ", queries.block_q(), queries.block_kv,
                            queries.num_threads(), queries.shared_bytes(kHeadDims[index], bytes)),
             request);
  dQ.block_work = mma_query_work(queries, request);
  return {delta_launch(request), dQ,
          mma_key_pass("bwd_twopass_dKdV_mma_sm80", "dK and dV", keys, false, request)};
}

}  // namespace flashlab::cuda
