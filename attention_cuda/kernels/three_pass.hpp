// The launches of three_pass.cu.
#pragma once

#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

inline Launches three_pass_launches(const TilesRequest& request) {
  return one_warp_per_query("three_pass", request);
}

}  // namespace flashlab::cuda
