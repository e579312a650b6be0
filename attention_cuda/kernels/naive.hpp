// The launches of naive.cu.
#pragma once

#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

inline Launches naive_launches(const TilesRequest& request) {
  const std::int64_t hidden = request.pairs() - request.problem.visible_pairs();
  Launches launches = {library_product("S = Q K^T", "Product", {"q", "k"}, {}),
                       row_by_row("naive_scale", "Scale", request)};
  if (request.is_masked()) {
    launches.push_back(row_by_row("naive_mask", "Mask", request));
    launches.back().moved = {0, 4 * hidden};
  }
  launches.push_back(row_by_row("naive_row_max", "Row max", request, kReduceFloats));
  launches.push_back(row_by_row("naive_subtract", "Subtract", request));
  launches.push_back(row_by_row("naive_exp", "Exp", request));
  launches.push_back(row_by_row("naive_row_sum", "Row sum", request, kReduceFloats));
  launches.push_back(row_by_row("naive_divide", "Divide", request));
  launches.back().elements_stored = {"p"};
  add_output_product(launches, request);
  return launches;
}

}  // namespace flashlab::cuda
