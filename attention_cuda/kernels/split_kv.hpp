// The division of rows and keys among the blocks of split_kv.cu, and its launches.
#pragma once

#include <algorithm>

#include "attention/problem.hpp"
#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/split_launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

struct SplitKvShape {
  int head_dim, rows;  // rows that read the same K and V

  static constexpr int kNumThreads = 128;
  static constexpr int kMostRows = 8;
  static constexpr int kBlocksPerSm = 4;

  constexpr int lanes() const { return std::min(head_dim / 4, 32); }
  constexpr int vectors() const { return head_dim / 4 / lanes(); }  // of four columns, per lane
  constexpr int groups() const { return kNumThreads / lanes(); }    // of lanes
  constexpr int keys() const { return 4 / vectors(); }              // per step of a group
  constexpr int shared_bytes() const { return groups() * rows * (head_dim + 2) * 4; }
};

inline SplitTiles split_kv_tiles(const AttentionProblem& problem) {
  const bool is_one_row = problem.heads_per_kv_head() * problem.seqlen_q == 1;
  const SplitKvShape shape = {padded_head_dim(problem.head_dim),
                              is_one_row ? 1 : SplitKvShape::kMostRows};
  return {"split_kv",
          shape.rows,
          shape.groups() * shape.keys(),
          SplitKvShape::kNumThreads,
          shape.shared_bytes(),
          SplitKvShape::kBlocksPerSm};
}

/// The block's rows and the keys that its groups of lanes take at once, `shape.keys()` each. All lanes of
/// a group have the scores of its keys.
inline BlockWork split_kv_work(const SplitKvShape& shape) {
  const std::int64_t rows = shape.rows, keys = std::int64_t{shape.groups()} * shape.keys(),
                     head_dim = shape.head_dim;
  // By registers: 168 or 231 with eight rows, 62 to 72 with one.
  const int most_blocks = rows > 1 ? (head_dim > 128 ? 2 : 3) : (head_dim > 128 ? 7 : 8);
  BlockWork work = multiply_add_work(SplitKvShape::kNumThreads / 32, most_blocks);
  work.products = {{rows, keys, head_dim, 1, 1, Operand::kRegisters, Operand::kRegisters},
                   {rows, head_dim, keys, 1, 1, Operand::kRegisters, Operand::kRegisters}};
  int steps = 0;  // of a sum over a group
  for (int lanes = shape.lanes(); lanes > 1; lanes /= 2) ++steps;
  // Of a key: its sum, the scale, visibility (two comparisons, a selection; two more, a branch, and where
  // its ways join, 2), the maximum, the difference, the sum. Of a row, for all of a group's keys: the
  // shift (2), the difference, the factor of the sum and of the columns.
  const double of_key = 1 + 1 + 3 + 5 + 1 + 1 + 1 + kInstructionsOfExpf,
               of_row = 2 + 1 + 1 + 4.0 * shape.vectors() + kInstructionsOfExpf;
  const auto groups_keys = static_cast<double>(shape.keys());
  work.exps_per_score = shape.lanes() * (1 + 1 / groups_keys);
  work.score_instructions = shape.lanes() * (of_key + of_row / groups_keys);
  // A warp takes row by row, and key by key: a sum over a group, its score (2), the maximum; then, if the key is
  // visible, the difference, the exponential, and the sum. Of a row besides: the shift (2), the difference, the
  // exponential, the factor of the sum.
  work.score_passes = shape.rows * (1 + shape.keys());
  work.row_shuffles = static_cast<int>(keys) * steps;
  work.row_lanes = shape.lanes();
  work.shuffle_waits = shape.rows * shape.keys() * steps;
  work.chained_instructions =
      shape.rows *
      (groups_keys * (4.0 * shape.vectors() + 1 + steps + 2 + 1 + 1 + kChainOfExpf + 1) + 2 + 1 +
       kChainOfExpf + 1);
  work.loaded_through_l1 = {2 * 4 * keys * head_dim, 16};
  work.cache_waits = 1;
  // Of a vector: the row's address; whether the row, its alignment and the column hold, each with a
  // branch and a join (3); zeros (2); the sum of 64 bits (2).
  constexpr double kBranches = 3 * 3, kZeros = 2, kSum = 2;
  work.tile_instructions = 2.0 * static_cast<double>(groups_keys) * shape.vectors() *
                           (kInstructionsOfRowAddress + kBranches + kZeros + kSum);
  work.is_in_l2 = true;  // blocks of other rows are elsewhere in K and V
  work.first_bytes = 4 * head_dim * (rows + 2 * keys);
  // Each group stores its sums. Then all threads merge the groups' maxima and sums of a row, two numbers with addresses,
  // the shift (2), two differences, exponentials and products, and a sum; and a column each: of a group two numbers
  // with addresses, a difference, an exponential, a multiply-add; its address and the store.
  constexpr double kOfExp = 1 + kInstructionsOfExpf;
  const double of_group = 2 * 2 + 2 + 2 * (1 + kOfExp + 1) + 1, of_column = 2 * 2 + 1 + kOfExp + 1;
  const std::int64_t whole_columns =
      (head_dim + SplitKvShape::kNumThreads - 1) / SplitKvShape::kNumThreads;
  const auto columns = static_cast<double>(whole_columns);
  work.end_instructions =
      shape.rows * (2.0 * shape.vectors() + shape.groups() * (of_group + columns * of_column) +
                    columns * (kInstructionsOfRowAddress + 2));
  return work;
}

inline Launches split_kv_launches(const TilesRequest& request) {
  const SplitTiles tiles = split_kv_tiles(request.problem);
  return split_launches(tiles, request,
                        split_kv_work({padded_head_dim(request.problem.head_dim), tiles.rows}));
}

}  // namespace flashlab::cuda
