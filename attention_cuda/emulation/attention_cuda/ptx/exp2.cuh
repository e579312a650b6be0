// Stands in for attention_cuda/ptx/exp2.cuh.
#pragma once

#include <cmath>
#include <limits>

namespace flashlab::cuda::ptx {

inline float exp2_approximate(float x) {
  const float result = std::exp2(x);
  return result < std::numeric_limits<float>::min() ? 0.f : result;
}

}  // namespace flashlab::cuda::ptx
