// Random operands, and results that count as used. Without both, the compiler could remove work,
// and the GPU could use less power than in real kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::compare {

/// The finaliser of MurmurHash3 (Appleby): consecutive numbers give unrelated bits.
__host__ __device__ inline std::uint32_t random_bits(std::uint32_t number) {
  number ^= number >> 16;
  number *= 0x85ebca6bu;
  number ^= number >> 13;
  number *= 0xc2b2ae35u;
  number ^= number >> 16;
  return number;
}

/// Returns a float of either sign with magnitude in [0.5, 1): sums of products grow slowly, and no
/// value is subnormal.
__device__ inline float random_float(std::uint32_t number) {
  return __uint_as_float((random_bits(number) & 0x807fffffu) | 0x3f000000u);
}

/// The thread's number in the whole grid.
__device__ inline std::uint32_t thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Forces the compiler to compute `result`, although only one value in 2^32 is stored.
__device__ inline void keep(std::uint32_t result, std::uint32_t* sink) {
  if (result == 0x9e3779b9u) *sink = result;
}
__device__ inline void keep(float result, std::uint32_t* sink) {
  keep(__float_as_uint(result), sink);
}

}  // namespace flashlab::compare
