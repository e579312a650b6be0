// Sums of mma and wgmma have two adjacent columns per thread. A transpose among the four threads of a
// row gives each of them eight, which is 16 bytes of a 16-bit type. So rows of sums are stored.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/ptx/convert.cuh"

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

/// Stores one of a thread's two rows of sums (ptx/wgmma.cuh), times `factor` and rounded: row `r` of
/// 0 and 1, from `row` on, for chunks of 8 columns below num_chunks. All threads of the quad call this;
/// is_row: this one is to be stored.
template <class Element, int kRegisters>
__device__ __forceinline__ void store_row_of_sums(std::uint16_t* row, bool is_row,
                                                  const float (&sums)[kRegisters], int r,
                                                  float factor, int num_chunks, int lane) {
#pragma unroll
  for (int first = 0; first < kRegisters / 4; first += 4) {
    std::uint32_t values[4];  // two columns of four chunks; then four times two of one chunk
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* const two = sums + 4 * (first + i) + 2 * r;
      values[i] = ptx::pack(Element{}, two[0] * factor, two[1] * factor);
    }
    transpose_in_quad(values, lane);
    const int chunk = first + lane % 4;
    if (is_row && chunk < num_chunks) {
      *reinterpret_cast<uint4*>(row + 8 * chunk) =
          uint4{values[0], values[1], values[2], values[3]};
    }
  }
}

}  // namespace flashlab::cuda
