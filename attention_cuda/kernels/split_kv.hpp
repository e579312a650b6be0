// The division of rows and keys among the blocks of split_kv.cu, and its launches.
#pragma once

#include <algorithm>

#include "attention/problem.hpp"
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

inline Launches split_kv_launches(const TilesRequest& request) {
  return split_launches(split_kv_tiles(request.problem), request);
}

}  // namespace flashlab::cuda
