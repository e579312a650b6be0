// The launches of online.cu.
#pragma once

#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

inline Launches online_launches(const TilesRequest& request) {
  return one_warp_per_query("online", request);
}

}  // namespace flashlab::cuda
