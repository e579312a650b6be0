// The head dims of compiled kernels. Others use the next larger one, padded with zeros
// inside the kernel.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// Calls work.operator()<kHeadDim>() for the smallest compiled kHeadDim that is at least head_dim.
template <class Work>
void with_head_dim(std::int64_t head_dim, const Work& work) {
#ifdef FLASHLAB_CUDA_ONE_HEAD_DIM  // to check quickly that everything compiles for a GPU
  static_cast<void>(head_dim);
  work.template operator()<64>();
#else
  switch (padded_head_dim(head_dim)) {
    case 32:
      return work.template operator()<32>();
    case 64:
      return work.template operator()<64>();
    case 128:
      return work.template operator()<128>();
    default:
      return work.template operator()<256>();
  }
#endif
}

}  // namespace flashlab::cuda
