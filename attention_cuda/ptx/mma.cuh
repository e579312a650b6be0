// The tensor cores' product of one warp, D += A B, of compute capability 8.0.
//
// Lane l of the warp, with row g = l / 4 and column pair t = l % 4, holds these elements:
//   A  16 x k   16-bit, k = 16: a[0] (g, 2t..2t+1)   a[1] (g+8, 2t..2t+1)
//                               a[2] (g, 2t+8..2t+9) a[3] (g+8, 2t+8..2t+9)
//               tf32,   k = 8:  a[0] (g, t)          a[1] (g+8, t)
//                               a[2] (g, t+4)        a[3] (g+8, t+4)
//   B  k x 8    16-bit, k = 16: b[0] (2t..2t+1, g)   b[1] (2t+8..2t+9, g)
//               tf32,   k = 8:  b[0] (t, g)          b[1] (t+4, g)
//   D  16 x 8   fp32:           d[0] (g, 2t)         d[1] (g, 2t+1)
//                               d[2] (g+8, 2t)       d[3] (g+8, 2t+1)
// Source  PTX ISA, "Matrix multiply-accumulate operation using mma instruction"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention/tensor.hpp"

namespace flashlab::cuda::ptx {

__device__ __forceinline__ void mma_m16n8k16(BFloat16, float (&d)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void mma_m16n8k16(Float16, float (&d)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// The tensor core uses the upper 19 bits of each operand, so to_tf32 must round them before.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                                 const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace flashlab::cuda::ptx
