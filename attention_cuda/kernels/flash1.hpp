// The tiles and launches of flash1.cu.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

struct Flash1Shape {
  static constexpr int kNumWarps = 4, kNumThreads = 32 * kNumWarps;
  static constexpr int kBlockQ = 64, kBlockKV = 32;  // one key per lane
  static constexpr int kStartThreads = 256;          // of the kernels before and after the loop

  /// K and V, one query per warp, m and l.
  static constexpr int shared_bytes(int head_dim) {
    return 4 * ((2 * kBlockKV + kNumWarps) * head_dim + 2 * kBlockQ);
  }
};

/// S = Q K^T and O += P V of one pair of tiles: a warp has one query at a time. A lane has one key,
/// whose row it loads, and then two or more columns of V.
inline BlockWork flash1_work(std::int64_t head_dim) {
  constexpr std::int64_t kQueries = Flash1Shape::kBlockQ, kKeys = Flash1Shape::kBlockKV;
  const std::int64_t columns = (head_dim + 31) / 32;  // of a lane
  constexpr int kMostBlocks = 10;                     // of 128 threads with 48 registers
  BlockWork work = multiply_add_work(Flash1Shape::kNumWarps, kMostBlocks);
  work.products = {
      {kQueries, kKeys, head_dim, 1, 1, Operand::kRegisters, Operand::kRegisters},
      {kQueries, head_dim, kKeys, 1, columns, Operand::kRegisters, Operand::kRegisters}};
  // A row of Q is one wavefront for 4 columns, rows of K are four; V is one for each column.
  work.loaded = {kQueries * kWavefrontBytes * (head_dim / 4 * 5 + kKeys * columns), 8};
  work.stored = {kQueries * (4 * head_dim + 2 * kWavefrontBytes), 4};  // Q, m and l
  work.first_bytes = 2 * 4 * kKeys * head_dim;
  // Of a query, by each lane, which has one score: two exponentials, of the score and of the old maximum; the
  // query's keys; rows of Q and of O, which is loaded and stored, each with its columns, which are divided; three
  // loops.
  const auto columns_of_lane = static_cast<double>(columns);
  work.score_instructions =
      kOnlineSoftmaxInstructions + 1 + 2 * kInstructionsOfExpf + kInstructionsOfRange +
      3 * (kInstructionsOfRowAddress + columns_of_lane * kInstructionsOfColumnAddress) +
      columns_of_lane * (kInstructionsOfDivision + 4) + 3 * 3;
  // Rows of Q, and of O: the stride of the columns and the tensor's address, for each number of a lane.
  work.constant_loads = kQueries * 2 * columns * 2;
  work.exps_per_score = 2 + kSpecialsOfDivision * columns_of_lane;
  work.row_shuffles = 10 + static_cast<int>(kKeys);
  work.row_lanes = 32;
  // A warp takes query by query. It waits for the row of Q and for that of O, for the sum of its key's products, the
  // maximum and the sum over lanes, its exponential, the sum over keys, four of which come per round, and the division.
  constexpr int kQueriesOfWarp = kQueries / Flash1Shape::kNumWarps, kKeysAtOnce = 4;
  work.cache_waits = 2 * kQueriesOfWarp;
  work.is_in_l2 = true;
  work.score_passes = kQueriesOfWarp;
  work.shuffle_waits = kQueriesOfWarp * (10 + static_cast<int>(kKeys) / kKeysAtOnce);
  work.chained_instructions =
      kQueriesOfWarp * (static_cast<double>(head_dim) + 10 + 2 + 1 + kChainOfExpf +
                        static_cast<double>(kKeys) + kInstructionsOfDivision);
  return work;
}

inline Launches flash1_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const std::int64_t rows = request.rows();
  LaunchTiles start;
  start.name = "flash1_start";
  start.toy_pass = "Start";
  start.num_threads = Flash1Shape::kStartThreads;
  start.num_blocks = num_tiles(rows * problem.head_dim, Flash1Shape::kStartThreads);

  LaunchTiles launch;
  launch.name = "flash1";
  launch.toy_pass = "Attention";
  launch.block_q = Flash1Shape::kBlockQ;
  launch.block_kv = Flash1Shape::kBlockKV;
  launch.num_threads = Flash1Shape::kNumThreads;
  launch.shared_bytes = Flash1Shape::shared_bytes(padded_head_dim(problem.head_dim));
  launch.num_blocks = request.heads() * num_tiles(problem.seqlen_q, Flash1Shape::kBlockQ);
  launch.num_launches = num_tiles(problem.seqlen_k, Flash1Shape::kBlockKV);
  launch.block_work = flash1_work(padded_head_dim(problem.head_dim));

  LaunchTiles lse = uncounted_launch("flash1_lse", num_tiles(rows, Flash1Shape::kStartThreads),
                                     {8 * rows, 4 * rows});
  lse.num_threads = Flash1Shape::kStartThreads;
  return {start, launch, lse};
}

}  // namespace flashlab::cuda
