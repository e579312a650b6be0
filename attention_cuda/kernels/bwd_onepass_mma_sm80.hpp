// The tiles and launches of bwd-onepass on tensor cores, in 16 bits and in tf32.
#pragma once

#include "attention_cuda/detail/backward_launches.hpp"
#include "attention_cuda/detail/backward_tile_shapes.hpp"

namespace flashlab::cuda {

/// bwd-onepass, bf16 and fp16, if a block has only kLeastSharedBytes.
inline constexpr KeyTileShape kOnePassShapes16[] = {
    // queries, keys, warps, keys per warp, chunk, stages, warps_q, blocks per SM
    {64, 128, 4, 32, 32, 2, 2, 2},
    {64, 128, 4, 32, 32, 2, 2, 2},
    {32, 64, 4, 16, 32, 2, 1, 2},
    {32, 32, 4, 16, 32, 1, 1, 2}};
/// With more shared memory; block_q 0: the table above has the best known shape.
inline constexpr KeyTileShape kOnePassLargeShapes16[] = {
    {}, {}, {64, 128, 8, 32, 64, 2, 2, 1}, {32, 64, 8, 16, 32, 2, 1, 1}};
constexpr bool takes_large_shape(std::int64_t head_dim, std::int64_t shared_memory_bytes) {
  const KeyTileShape& large = kOnePassLargeShapes16[head_dim_index(head_dim)];
  return large.block_q > 0 &&
         large.shared_bytes(padded_head_dim(head_dim), 2, true) <= shared_memory_bytes;
}
/// float by tf32: rows are twice as long as 16-bit ones.
inline constexpr KeyTileShape kOnePassShapesTf32[] = {{32, 128, 4, 32, 16, 2, 2, 2},
                                                      {32, 64, 4, 16, 32, 2, 2, 2},
                                                      {16, 64, 4, 16, 16, 1, 1, 2},
                                                      {16, 32, 4, 16, 16, 1, 1, 1}};

inline const KeyTileShape& onepass_shape(const TilesRequest& request) {
  const std::int64_t head_dim = request.problem.head_dim;
  const int index = head_dim_index(head_dim);
  if (request.element_bytes() != 2) return kOnePassShapesTf32[index];
  return takes_large_shape(head_dim, request.gpu.shared_memory_per_block_bytes)
             ? kOnePassLargeShapes16[index]
             : kOnePassShapes16[index];
}

inline Launches bwd_onepass_mma_launches(const TilesRequest& request) {
  const KeyTileShape& shape = onepass_shape(request);
  const int head_dim = padded_head_dim(request.problem.head_dim);
  const std::int64_t num_dQ_tiles =
                         request.heads() * num_tiles(request.problem.seqlen_q, shape.block_q),
                     sums = 4 * num_dQ_tiles * shape.block_q * head_dim,
                     dQ = request.rows() * request.problem.head_dim * request.element_bytes();
  LaunchTiles round = uncounted_launch("dQ_of_sums_kernel", num_dQ_tiles, {sums, dQ});
  round.num_threads = shape.num_threads();
  round.shared_bytes = std::int64_t{shape.block_q} * head_dim * request.element_bytes();
  const std::string_view name =
      request.element_bytes() == 2 ? "bwd_onepass_mma_sm80" : "bwd_onepass_mma_tf32_sm80";
  return {zero_dQ_sums(num_dQ_tiles, sums), delta_launch(request),
          mma_key_pass(name, "Gradients", shape, true, request), round};
}

}  // namespace flashlab::cuda
