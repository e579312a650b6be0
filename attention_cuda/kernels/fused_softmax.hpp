// The launches of fused_softmax.cu, and which rows of scores stay in shared memory.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// fused-softmax keeps rows of up to this many scores in shared memory: 48 KiB need no opt-in.
inline constexpr int kMostStoredKeys = (48 << 10) / 4 - kReduceFloats;

inline Launches fused_softmax_launches(const TilesRequest& request) {
  const std::int64_t seqlen_k = request.problem.seqlen_k, rows = request.rows();
  const bool is_stored = seqlen_k <= kMostStoredKeys;
  // Of each visible score: loaded, stored and loaded twice from shared memory, or loaded three times;
  // two exponentials; stored.
  RowWork work =
      with_place({request.problem.visible_pairs(), kInstructionsOfRange, is_stored ? 5 : 4, 2, 2,
                  is_stored ? 1 : 3, 5});  // two more loops set hidden weights to 0
  if (work.num_numbers > 0) {
    constexpr double kZero = 1.5;  // its store, and a part of a round of the loop
    const auto visible = static_cast<double>(work.num_numbers),
               all = static_cast<double>(request.pairs());
    work.computed_share = visible / all;
    work.number_instructions = kZero * (all - visible) / visible;
  }
  LaunchTiles softmax = row_by_row("fused_softmax", "Softmax", request, work,
                                   kReduceFloats + static_cast<int>(is_stored ? seqlen_k : 0));
  // Hidden scores are not read, m and l are written for lse, and a row that is not stored is read
  // three times. The toy program keeps every row.
  softmax.moved = {(is_stored ? 1 : 3) * 4 * request.problem.visible_pairs(),
                   request.element_bytes() * request.pairs() + 8 * rows};
  softmax.elements_stored = {"p"};
  Launches launches = {library_product("S = Q K^T", "Product", {"q", "k"}, {}), softmax};
  add_output_product(launches, request);
  return launches;
}

}  // namespace flashlab::cuda
