// The tiles and launches of flash2_fp16x3_sm90.cu.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/kernels/flash2_wgmma_sm90.hpp"

namespace flashlab::cuda {

/// A row of Q, K or V as the products read it has the high parts of all its elements, then the low
/// ones: twice head_dim columns of fp16.
struct Fp16x3Shape {
  WgmmaShape wgmma;  // its head_dim counts both parts

  static constexpr int kParts = 2;
  /// Of the scales of tiles: the tile that is scored, the one whose P V runs, and the next one.
  static constexpr int kScaleBuffers = 3;
  static constexpr int kSplitThreads = 256;
  static constexpr int kSplitSharedBytes = 4 * 2 * kSplitThreads;  // two numbers per thread

  constexpr int head_dim() const { return wgmma.head_dim / kParts; }
  /// Of a tile: one for each key of K, then one for each column of V.
  constexpr int num_scales() const { return wgmma.block_kv + head_dim(); }
  constexpr int scale_bytes() const {
    return 4 * (wgmma.block_q() + wgmma.computing * kScaleBuffers * num_scales());
  }
  constexpr int shared_bytes() const { return wgmma.shared_bytes() + scale_bytes(); }
};

inline constexpr std::int64_t kFp16x3MostHeadDim = 128;

/// By head_dim: two parts of it, computing warpgroups, keys, stages of K and of V, longest pairs.
inline constexpr Fp16x3Shape kFp16x3Shapes[] = {{{2 * 64, 2, 128, 2, 2, 4096}},
                                                {{2 * 128, 2, 64, 2, 2, 4096}}};

constexpr int fp16x3_index(std::int64_t head_dim) {
  return head_dim > kFp16x3Shapes[0].head_dim() ? 1 : 0;
}

/// The blocks of the splitting kernel: each has block_kv rows of Q, K or V.
struct Fp16x3SplitBlocks {
  std::int64_t of_Q, of_K;  // as many of V

  Fp16x3SplitBlocks(const AttentionProblem& problem, const Fp16x3Shape& shape)
      : of_Q(problem.batch * problem.num_heads * num_tiles(problem.seqlen_q, shape.wgmma.block_kv)),
        of_K(problem.batch * problem.num_kv_heads *
             num_tiles(problem.seqlen_k, shape.wgmma.block_kv)) {}
  std::int64_t all() const { return of_Q + 2 * of_K; }
};

/// S = Q K^T and O += P V of one pair of tiles, each of three products. Scores and O have scales in shared
/// memory, which warpgroups copy there.
inline BlockWork flash2_fp16x3_work(const Fp16x3Shape& shape) {
  const std::int64_t block_q = shape.wgmma.block_q(), keys = shape.wgmma.block_kv,
                     head_dim = shape.head_dim(), rows = WgmmaShape::kRowsOfWarpgroup;
  BlockWork work = wgmma_work(shape.wgmma.computing);
  work.products_per_product = 3;
  work.products = {
      {block_q, keys, head_dim, rows, keys, Operand::kShared, Operand::kShared},
      {block_q, head_dim, keys, rows, head_dim, Operand::kResults, Operand::kSharedColumns}};
  // The scale of the key, of P before it is split, and of O.
  work.score_instructions =
      kOnlineSoftmaxInstructions + 2 + static_cast<double>(head_dim) / static_cast<double>(keys);
  work.row_shuffles = 2;
  // A thread loads two scales of columns for two rows of scores or of O: 4 bytes for each 2 numbers.
  work.loaded = {2 * block_q * (keys + head_dim), 8};
  work.stored = {4 * shape.wgmma.computing * shape.num_scales(), 4};
  work.num_barriers = 1;
  work.mbarrier_waits = work.mbarrier_arrivals = 2;  // K and V
  store_sums(work, block_q * head_dim, 4);
  work.first_bytes = 4 * head_dim * (block_q + keys);
  return work;
}

/// Splitting rows, most of which a warp takes one after the other.
/// rows_in_turn: of a warp; each waits for its numbers.
inline RowWork fp16x3_split_work(std::int64_t rows, std::int64_t head_dim, int rows_in_turn,
                                 int blocks_per_sm) {
  // Of a number: the product, what it lacks to the exact one (2), its magnitude if it is finite (3), the
  // maximum; whether it is finite again (2), the scale; two parts, the first rounded, back, subtracted, the
  // rest added, rounded (4).
  constexpr double kOfNumber = 1 + 2 + 3 + 1 + 2 + 1 + 4;
  // Of a row: the addresses of three rows; shuffles and maxima of a warp; the scale, a power of two (5).
  constexpr double kOfRow = 3 * kInstructionsOfRowAddress + 2 * 5 + 5;
  RowWork work = with_place({rows * head_dim});
  work.accesses = 2;
  work.loads_in_turn = rows_in_turn;
  work.blocks_per_sm = blocks_per_sm;
  work.number_instructions = kOfNumber + kOfRow * 32 / static_cast<double>(head_dim);
  return work;
}

inline Launches flash2_fp16x3_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const Fp16x3Shape& shape = kFp16x3Shapes[fp16x3_index(problem.head_dim)];
  const Fp16x3SplitBlocks blocks(problem, shape);
  const std::int64_t rows = request.rows() + 2 * request.kv_heads() * problem.seqlen_k,
                     scales = request.rows() + blocks.of_K * shape.num_scales();
  LaunchTiles split =
      uncounted_launch("flash2_fp16x3_split", blocks.all(),
                       {4 * rows * problem.head_dim, 4 * rows * shape.head_dim() + 4 * scales});
  split.num_threads = Fp16x3Shape::kSplitThreads;
  split.shared_bytes = Fp16x3Shape::kSplitSharedBytes;
  constexpr int kMostBlocks = 3;  // with 74 registers: a thread keeps its numbers of a tile of V
  split.row_work =
      fp16x3_split_work(rows, problem.head_dim,
                        shape.wgmma.block_kv / (Fp16x3Shape::kSplitThreads / 32), kMostBlocks);

  LaunchTiles launch =
      query_tiles("flash2_fp16x3_sm90", shape.wgmma, shape.shared_bytes(), request);
  launch.num_tiles_of_blocks = launch.num_blocks;
  const WgmmaSchedule schedule = wgmma_schedule(problem, shape.wgmma, !problem.key_lengths.empty(),
                                                request.gpu.num_multiprocessors);
  launch.num_blocks = schedule.num_blocks;
  launch.block_work = flash2_fp16x3_work(shape);
  launch.block_work->order = schedule.is_paired ? BlockOrder::kPairs : BlockOrder::kLongestFirst;
  return {split, launch};
}

}  // namespace flashlab::cuda
