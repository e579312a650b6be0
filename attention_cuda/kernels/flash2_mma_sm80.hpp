// The tiles and launches of flash2 on tensor cores, in 16 bits and in tf32.
#pragma once

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// flash2 on tensor cores: each warp has 16 row_tiles queries; kernels/flash2_mma_sm80.cuh.
struct Flash2Shape {
  int num_warps, row_tiles, block_kv;
  bool keeps_queries;  // in registers
  int min_blocks;      // per multiprocessor

  constexpr int block_q() const { return num_warps * 16 * row_tiles; }
  constexpr int num_threads() const { return 32 * num_warps; }
  /// Q, two tiles of K and of V, and the range of keys of each query.
  constexpr int shared_bytes(int head_dim, int element_bytes) const {
    return element_bytes * head_dim * (block_q() + 4 * block_kv) + 8 * block_q();
  }
};

/// bf16 and fp16.
inline constexpr Flash2Shape kFlash2Shapes16[] = {
    // warps, row tiles, keys, Q in registers, blocks per SM
    {4, 2, 64, true, 2},
    {4, 2, 64, true, 2},
    {4, 2, 64, false, 2},
    {4, 1, 32, false, 2}};
/// float by tf32: rows are twice as long as 16-bit ones, and must fit 99 KiB.
inline constexpr Flash2Shape kFlash2ShapesTf32[] = {
    {4, 2, 32, false, 2}, {4, 2, 32, false, 2}, {4, 1, 32, false, 2}, {2, 1, 16, false, 2}};

inline Launches flash2_mma_launches(const TilesRequest& request) {
  const std::int64_t head_dim = request.problem.head_dim;
  const bool is_16_bits = request.element_bytes() == 2;
  const Flash2Shape& shape =
      (is_16_bits ? kFlash2Shapes16 : kFlash2ShapesTf32)[head_dim_index(head_dim)];
  return {query_tiles(is_16_bits ? "flash2_mma_sm80" : "flash2_mma_tf32_sm80", shape,
                      shape.shared_bytes(padded_head_dim(head_dim), request.element_bytes()),
                      request)};
}

}  // namespace flashlab::cuda
