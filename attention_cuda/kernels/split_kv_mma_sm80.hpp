// The division of rows and keys among the blocks of split_kv_mma_sm80.cu, and its launches.
#pragma once

#include "attention/problem.hpp"
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

inline Launches split_kv_mma_launches(const TilesRequest& request) {
  return split_launches(split_kv_mma_tiles(request.problem), request);
}

}  // namespace flashlab::cuda
