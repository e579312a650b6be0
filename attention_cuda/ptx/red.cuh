// Additions to global memory without a result; each of the four is atomic on its own.
// Source  PTX ISA, "Parallel synchronization and communication instructions: red"
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda::ptx {

/// `global` is 16-byte aligned. One instruction from compute capability 9.0 on, four before.
__device__ __forceinline__ void red_add_4(float* global, const float (&values)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(global), "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3])
               : "memory");
#else
  for (int e = 0; e < 4; ++e) atomicAdd(global + e, values[e]);
#endif
}

}  // namespace flashlab::cuda::ptx
