// Kernels are compiled for a few head_dims; a tensor's is padded with zeros to the next of them.
#pragma once

#include <cstdint>

namespace flashlab::cuda {

/// Calls launch.operator()<kHeadDim>() with the smallest kHeadDim that holds head_dim.
template <class Launch>
void with_padded_head_dim(std::int64_t head_dim, const Launch& launch) {
  if (head_dim <= 32) return launch.template operator()<32>();
  if (head_dim <= 64) return launch.template operator()<64>();
  if (head_dim <= 128) return launch.template operator()<128>();
  return launch.template operator()<256>();
}

}  // namespace flashlab::cuda
