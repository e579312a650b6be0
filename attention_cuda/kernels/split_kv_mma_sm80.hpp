// The division of rows and keys among the blocks of split_kv_mma_sm80.cu, and its launches.
#pragma once

#include "attention/problem.hpp"
#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/split_launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

struct SplitKvMmaShape {
  int num_warps;
  int stages;  // tiles of K and of V per warp

  static constexpr int kRows = 16;         // of a block
  static constexpr int kKeys = 16;         // of a warp's tile
  static constexpr int kBlocksPerSm = 2;   // by their shared memory, on compute capability 9.0
  static constexpr int kElementBytes = 2;  // bf16 and fp16

  constexpr int num_threads() const { return 32 * num_warps; }
  constexpr int shared_bytes(int head_dim) const {
    return num_warps * stages * 2 * kKeys * head_dim * kElementBytes;
  }
};

/// A row for each of kHeadDims.
inline constexpr SplitKvMmaShape kSplitKvMmaShapes[] = {{4, 6}, {4, 6}, {4, 3}, {2, 3}};

inline SplitTiles split_kv_mma_tiles(const AttentionProblem& problem) {
  const SplitKvMmaShape& shape = kSplitKvMmaShapes[head_dim_index(problem.head_dim)];
  return {"split_kv_mma_sm80",
          SplitKvMmaShape::kRows,
          shape.num_warps * SplitKvMmaShape::kKeys,
          shape.num_threads(),
          shape.shared_bytes(padded_head_dim(problem.head_dim)),
          SplitKvMmaShape::kBlocksPerSm};
}

/// The block's rows and a tile of keys of each warp, which has sums of its own.
inline BlockWork split_kv_mma_work(const SplitKvMmaShape& shape, std::int64_t head_dim) {
  constexpr std::int64_t kRows = SplitKvMmaShape::kRows, kKeys = SplitKvMmaShape::kKeys;
  const std::int64_t warps = shape.num_warps, keys = warps * kKeys;
  BlockWork work = mma_work(shape.num_warps, SplitKvMmaShape::kBlocksPerSm);
  work.products = {
      {kRows, keys, head_dim, kRows, kKeys, Operand::kRegisters, Operand::kShared, true},
      {kRows * warps, head_dim, kKeys, kRows, head_dim, Operand::kResults,
       Operand::kSharedColumns}};
  work.score_instructions = kOnlineSoftmaxInstructions;
  // The stage of a tile is a remainder (5), for what is loaded and what is used of K and of V.
  work.tile_instructions += 4 * 5 + 2 * kInstructionsOfTilePlace + kInstructionsOfTwoTiles;
  work.row_shuffles = 2;
  work.row_lanes = 4 * shape.num_warps;
  work.copied.bytes = 2 * SplitKvMmaShape::kElementBytes * keys * head_dim;
  work.first_bytes = work.copied.bytes + SplitKvMmaShape::kElementBytes * kRows * head_dim;
  // Each warp stores its sums, two at once. Then a thread takes numbers of O one by one: its row and column (4); of
  // each warp the maximum (3), three numbers with addresses, a difference, an exponential, two multiply-adds; its
  // address and the store.
  const double of_warp = 3 + 3 * 2 + 1 + 1 + 2,
               of_number = 4 + static_cast<double>(warps) * of_warp + kInstructionsOfRowAddress + 2;
  const std::int64_t sums_of_lane = kRows * head_dim / 32;
  const auto sums = static_cast<double>(sums_of_lane);
  work.end_instructions = 2 * sums / 2 + sums / static_cast<double>(warps) * of_number;
  return work;
}

inline Launches split_kv_mma_launches(const TilesRequest& request) {
  const std::int64_t head_dim = request.problem.head_dim;
  return split_launches(
      split_kv_mma_tiles(request.problem), request,
      split_kv_mma_work(kSplitKvMmaShapes[head_dim_index(head_dim)], padded_head_dim(head_dim)));
}

}  // namespace flashlab::cuda
