// The block's dynamic shared memory; how much there is, the launch says.
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda::ptx {

/// 128-byte aligned.
__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(128) unsigned char flashlab_shared_memory[];
  return flashlab_shared_memory;
}

}  // namespace flashlab::cuda::ptx
