// 2^x by the special function unit, as in the attention kernels.
#pragma once

#include <cuda_runtime.h>

namespace flashlab::compare::ptx {

__device__ __forceinline__ float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace flashlab::compare::ptx
