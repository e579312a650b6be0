// The head dims that kernels are compiled for; others run as the next one, padded with zeros
// inside.
#pragma once

#include <cstdint>

namespace flashlab::cuda {

/// Calls work.operator()<kHeadDim>() for the smallest one that head_dim fits.
template <class Work>
void with_head_dim(std::int64_t head_dim, const Work& work) {
#ifdef FLASHLAB_CUDA_ONE_HEAD_DIM  // a quick check that everything compiles for a GPU
  static_cast<void>(head_dim);
  work.template operator()<64>();
#else
  if (head_dim <= 32) return work.template operator()<32>();
  if (head_dim <= 64) return work.template operator()<64>();
  if (head_dim <= 128) return work.template operator()<128>();
  work.template operator()<256>();
#endif
}

}  // namespace flashlab::cuda
