// The launches of naive.cu.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

inline Launches naive_launches(const TilesRequest& request) {
  const std::int64_t hidden = request.pairs() - request.problem.visible_pairs();
  const std::int64_t pairs = request.pairs();
  const RowWork in_place = {pairs, kInstructionsOfRow, 2},
                reading = {pairs, kInstructionsOfRow, 1, 1, 1},
                after_a_load = {pairs, kInstructionsOfRow, 2, 1, 0, 2};
  Launches launches = {library_product("S = Q K^T", "Product", {"q", "k"}, {}),
                       row_by_row("naive_scale", "Scale", request, in_place)};
  if (request.is_masked()) {
    const RowWork hiding = with_place({hidden, kInstructionsOfRange, 1});
    launches.push_back(row_by_row("naive_mask", "Mask", request, hiding));
    launches.back().moved = {0, 4 * hidden};
  }
  launches.push_back(row_by_row("naive_row_max", "Row max", request, reading, kReduceFloats));
  launches.push_back(row_by_row("naive_subtract", "Subtract", request, after_a_load));
  launches.push_back(row_by_row("naive_exp", "Exp", request, in_place));
  launches.push_back(row_by_row("naive_row_sum", "Row sum", request, reading, kReduceFloats));
  launches.push_back(row_by_row("naive_divide", "Divide", request, after_a_load));
  launches.back().elements_stored = {"p"};
  add_output_product(launches, request);
  return launches;
}

}  // namespace flashlab::cuda
