// Stores matrices of 16-bit elements from a warp's registers to shared memory. Compute capability
// 9.0.
// Source  PTX ISA, "Warp-level matrix store instruction: stmatrix"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

/// Four 8 x 8 matrices, one register each. Lane l gives the address of row l % 8 of matrix l / 8,
/// at a multiple of 16 bytes. Register i of lane l holds row l / 4, columns 2 (l % 4) and the next.
__device__ __forceinline__ void store_matrices(SharedAddress row, std::uint32_t a, std::uint32_t b,
                                               std::uint32_t c, std::uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

}  // namespace flashlab::cuda::ptx
