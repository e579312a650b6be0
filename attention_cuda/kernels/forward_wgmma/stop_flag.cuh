// Blocks that leave out their work when the host asks for it (ExecutionOptions::stop_flag). All threads of
// a block must decide alike, because they wait for each other: one reads the flag for all.
#pragma once

#include "attention_cuda/ptx/host_flag.cuh"

namespace flashlab::cuda {

/// By one thread that decides for its block.
__device__ __forceinline__ bool is_raised(const int* stop_flag) {
  return stop_flag != nullptr && ptx::load_from_host(stop_flag) != 0;
}

/// By all threads of a block: the same for all of them.
__device__ __forceinline__ bool block_stops(const int* stop_flag) {
  if (stop_flag == nullptr) return false;
  return __syncthreads_or(threadIdx.x == 0 && is_raised(stop_flag)) != 0;
}

}  // namespace flashlab::cuda
