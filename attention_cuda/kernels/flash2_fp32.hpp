// The tiles and launches of flash2_fp32.cu.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// flash2_fp32: each warp has 4 rows_per_thread queries; kernels/flash2_fp32.cu.
struct Flash2Fp32Shape {
  int head_dim;  // maximum
  int num_warps, rows_per_thread, block_kv;
  int min_blocks;  // per multiprocessor

  /// Padding of the rows of P and of Q, in floats.
  static constexpr int kPPadding = 4, kQPadding = 8;

  constexpr int block_q() const { return num_warps * 4 * rows_per_thread; }
  constexpr int num_threads() const { return 32 * num_warps; }
  /// Q, K, V and P.
  constexpr int shared_bytes() const {
    return 4 *
           (block_q() * (head_dim + kQPadding + block_kv + kPPadding) + 2 * block_kv * head_dim);
  }
};

/// For each head_dim the best shape first. The last one fits kLeastSharedBytes.
inline constexpr Flash2Fp32Shape kFlash2Fp32Shapes[] = {
    // head_dim, warps, rows per thread, keys, blocks per SM
    {32, 4, 8, 64, 3},  {64, 4, 8, 64, 2},  {64, 8, 4, 64, 2},
    {64, 4, 8, 32, 3},  {128, 8, 4, 64, 1}, {128, 8, 8, 32, 1},
    {128, 4, 4, 32, 2}, {256, 8, 4, 32, 1}, {256, 4, 2, 16, 1}};
inline constexpr int kNumFlash2Fp32Shapes = sizeof(kFlash2Fp32Shapes) / sizeof(Flash2Fp32Shape);

/// Returns the shape for a block with this much shared memory, or -1.
constexpr int flash2_fp32_shape(std::int64_t head_dim, std::int64_t shared_memory_bytes) {
  for (int index = 0; index < kNumFlash2Fp32Shapes; ++index) {
    const Flash2Fp32Shape& shape = kFlash2Fp32Shapes[index];
    if (head_dim <= shape.head_dim && shape.shared_bytes() <= shared_memory_bytes) return index;
  }
  return -1;
}

/// S = Q K^T and O += P V of one pair of tiles; P goes through shared memory.
inline BlockWork flash2_fp32_work(const Flash2Fp32Shape& shape) {
  const std::int64_t block_q = shape.block_q(), keys = shape.block_kv, head_dim = shape.head_dim,
                     rows = shape.rows_per_thread;
  constexpr std::int64_t kDepthAtOnce = 8, kColumnThreads = 8;
  BlockWork work = multiply_add_work(shape.num_warps, shape.min_blocks);
  work.products = {{block_q, keys, head_dim, rows, keys / kColumnThreads, Operand::kShared,
                    Operand::kShared, true, kDepthAtOnce},
                   {block_q, head_dim, keys, rows, head_dim / kColumnThreads, Operand::kShared,
                    Operand::kSharedColumns, false, kDepthAtOnce}};
  // A lane has one factor of O for each of its rows, as all lanes of the row.
  work.exps_per_score += static_cast<double>(kColumnThreads) / static_cast<double>(keys);
  work.score_instructions =
      kOnlineSoftmaxInstructions + static_cast<double>(head_dim) / static_cast<double>(keys);
  // O += P V of a tile with hidden pairs goes key by key, and row by row of a lane: whether the row sees the
  // key (its first and its last key, 5 each; two comparisons, two branches, a join), and then its weight.
  constexpr double kOfRow = 2 * 5 + 2 + 2 + 2;
  work.edge_instructions += kColumnThreads * kOfRow;
  work.edge_waits = static_cast<double>(keys * (rows + 1));  // and for V
  work.edge_chained_instructions = static_cast<double>(keys * rows) * kOfRow;
  work.row_shuffles = 3;
  work.row_lanes = kColumnThreads;
  work.stored = {4 * block_q * keys, 4};
  work.copied.bytes = 2 * keys * head_dim * 4;
  work.first_bytes = 4 * head_dim * (block_q + keys);
  work.num_barriers = 2;
  store_sums(work, block_q * head_dim, 4);
  return work;
}

inline Launches flash2_fp32_launches(const TilesRequest& request) {
  const std::int64_t shared = request.gpu.shared_memory_per_block_bytes;
  const int chosen = flash2_fp32_shape(request.problem.head_dim, shared);
  if (chosen < 0) {
    throw ProblemError("flash2_fp32", std::to_string(shared) + " bytes of shared memory a block",
                       "more of them for this head_dim");
  }
  const Flash2Fp32Shape& shape = kFlash2Fp32Shapes[chosen];
  LaunchTiles launch = query_tiles("flash2_fp32", shape, shape.shared_bytes(), request);
  launch.block_work = flash2_fp32_work(shape);
  return {launch};
}

}  // namespace flashlab::cuda
