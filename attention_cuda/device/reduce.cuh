// Reductions over the lanes of a warp or the threads of a block. Every thread gets the result. A
// maximum ignores NaN: the sum of exponentials after it becomes NaN.
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

/// `one_per_warp` [kNumThreads / 32] in shared memory; reusable as soon as all threads have returned.
template <int kNumThreads>
__device__ __forceinline__ float block_max(float value, float* one_per_warp) {
  const int thread = static_cast<int>(threadIdx.x);
  value = warp_max(value);
  if (thread % kWarpSize == 0) one_per_warp[thread / kWarpSize] = value;
  __syncthreads();
  for (int warp = 0; warp < kNumThreads / kWarpSize; ++warp) {
    value = fmaxf(value, one_per_warp[warp]);
  }
  __syncthreads();
  return value;
}

template <int kNumThreads>
__device__ __forceinline__ float block_sum(float value, float* one_per_warp) {
  const int thread = static_cast<int>(threadIdx.x);
  value = warp_sum(value);
  if (thread % kWarpSize == 0) one_per_warp[thread / kWarpSize] = value;
  __syncthreads();
  value = 0;
  for (int warp = 0; warp < kNumThreads / kWarpSize; ++warp) value += one_per_warp[warp];
  __syncthreads();
  return value;
}

}  // namespace flashlab::cuda
