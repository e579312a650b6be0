// For values that the inner loop has no registers for.
#pragma once

#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// Values derived from it are computed where they are used, instead of being kept in registers.
__device__ __forceinline__ int recomputed(int value) {
  return static_cast<int>(ptx::opaque(static_cast<ptx::SharedAddress>(value)));
}

}  // namespace flashlab::cuda
