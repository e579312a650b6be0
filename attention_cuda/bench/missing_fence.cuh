// A kernel with one fault on request: a bulk store of shared memory that no fence.proxy.async made
// visible to it. missing_fence.cu runs it on a GPU, emulation_async_test.cpp in the emulation.
#pragma once

#include <cstdint>

#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

inline constexpr int kFenceRows = 64, kFenceThreads = 128;
inline constexpr int kFenceTileBytes = kFenceRows * 128;
inline constexpr std::uint32_t kTwoOnes = 0x3F803F80;  // of bf16

/// Each block writes 64 rows of 64 ones to shared memory, and stores them as its rows of the tensor.
/// A barrier orders the threads' writes among themselves; only the fence orders them before the copy.
template <bool kFences>
__global__ void store_ones_kernel(const __grid_constant__ ptx::TensorMap map) {
  const ptx::SharedAddress memory = ptx::shared_address(ptx::shared_memory());
  constexpr ptx::SharedAddress kAlignment = 1024;  // of the swizzle
  const ptx::SharedAddress tile = (memory + kAlignment - 1) & ~(kAlignment - 1);
  for (int word = static_cast<int>(threadIdx.x); word < kFenceTileBytes / 4;
       word += kFenceThreads) {
    ptx::store_shared(tile + 4 * static_cast<ptx::SharedAddress>(word), kTwoOnes);
  }
  if (kFences) ptx::fence_async_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::store_box(map, tile, 0, static_cast<int>(blockIdx.x) * kFenceRows, 0, 0);
  ptx::commit_stores();
  ptx::wait_stores_read<0>();
}

}  // namespace flashlab::cuda
