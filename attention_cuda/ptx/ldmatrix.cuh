// Loads four 8 x 8 matrices of 16-bit elements (or 8 x 4 of 32 bits) from shared memory with a
// whole warp. Lane l gives the address of a row of 16 bytes, 16-byte aligned: row l % 8 of matrix l
// / 8. Afterwards its to[i] contains these elements of matrix i:
//   direct                     the 4 bytes at row l / 4, byte 4 (l % 4)
//   transposed (16-bit only)   elements (2 (l % 4), l / 4) and (2 (l % 4) + 1, l / 4)
// Source  PTX ISA, "Warp-level matrix load instruction: ldmatrix"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x4_transposed(std::uint32_t (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&to)[4], const void* shared_row) {
  ldmatrix_x4(to, shared_address(shared_row));
}
__device__ __forceinline__ void ldmatrix_x4_transposed(std::uint32_t (&to)[4],
                                                       const void* shared_row) {
  ldmatrix_x4_transposed(to, shared_address(shared_row));
}

}  // namespace flashlab::cuda::ptx
