// 2^x by the special function unit. The relative error is below 2^-22; subnormal results are 0;
// -inf gives 0.
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda::ptx {

__device__ __forceinline__ float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace flashlab::cuda::ptx
