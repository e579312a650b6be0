// The tiles and launches of flash2 on tensor cores, in 16 bits and in tf32.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
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

/// S = Q K^T and O += P V of one pair of tiles; softmax in registers.
inline BlockWork flash2_mma_work(const Flash2Shape& shape, const TilesRequest& request) {
  const std::int64_t head_dim = padded_head_dim(request.problem.head_dim),
                     block_q = shape.block_q(), keys = shape.block_kv,
                     warp_rows = 16 * shape.row_tiles;
  BlockWork work = mma_work(shape.num_warps, shape.min_blocks);
  work.products = {
      {block_q, keys, head_dim, warp_rows, keys,
       shape.keeps_queries ? Operand::kRegisters : Operand::kShared, Operand::kShared, true},
      {block_q, head_dim, keys, warp_rows, head_dim, Operand::kResults, Operand::kSharedColumns}};
  load_as_split(work, request);
  work.score_instructions = kOnlineSoftmaxInstructions;
  work.row_shuffles = 2;
  work.copied.bytes = 2 * keys * head_dim * request.element_bytes();
  work.first_bytes = work.copied.bytes + block_q * head_dim * request.element_bytes();
  work.num_barriers = 1;
  work.order = BlockOrder::kLongestFirst;
  store_sums(work, block_q * head_dim, request.element_bytes());
  return work;
}

inline Launches flash2_mma_launches(const TilesRequest& request) {
  const std::int64_t head_dim = request.problem.head_dim;
  const bool is_16_bits = request.element_bytes() == 2;
  const Flash2Shape& shape =
      (is_16_bits ? kFlash2Shapes16 : kFlash2ShapesTf32)[head_dim_index(head_dim)];
  LaunchTiles launch =
      query_tiles(is_16_bits ? "flash2_mma_sm80" : "flash2_mma_tf32_sm80", shape,
                  shape.shared_bytes(padded_head_dim(head_dim), request.element_bytes()), request);
  launch.block_work = flash2_mma_work(shape, request);
  return {launch};
}

}  // namespace flashlab::cuda
