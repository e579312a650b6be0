// mma and ldmatrix for a whole warp.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"

namespace flashlab::cuda::emulation {

// D += A B for the calling lane; the fragments have the layout in attention_cuda/ptx/mma.cuh.
// Products are exact; sums are computed in double and rounded once.
void mma_m16n8k16(BFloat16, float (&d)[4], const std::uint32_t (&a)[4],
                  const std::uint32_t (&b)[2]);
void mma_m16n8k16(Float16, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);

void ldmatrix_x4(std::uint32_t (&to)[4], const void* shared_row, bool is_transposed);

}  // namespace flashlab::cuda::emulation
