// Sums of mma and wgmma have two adjacent columns per thread. A transpose among the four threads of a
// row gives each of them eight, which is 16 bytes of a 16-bit type.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::cuda {

/// Lane i of each four consecutive lanes gets, as values[j], what lane j had as values[i].
__device__ __forceinline__ void transpose_in_quad(std::uint32_t (&values)[4], int lane) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    const bool is_upper = (lane & distance) != 0;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      std::uint32_t& low = values[distance == 1 ? 2 * pair : pair];
      std::uint32_t& high = values[distance == 1 ? 2 * pair + 1 : pair + 2];
      const std::uint32_t received = __shfl_xor_sync(~0U, is_upper ? low : high, distance);
      (is_upper ? low : high) = received;
    }
  }
}

}  // namespace flashlab::cuda
