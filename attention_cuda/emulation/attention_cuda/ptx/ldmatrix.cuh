// Stands in for attention_cuda/ptx/ldmatrix.cuh. Throws if a row does not lie in shared memory or
// is not aligned.
#pragma once

#include <cstdint>

#include "attention_cuda/emulation/tensor_core.hpp"

namespace flashlab::cuda::ptx {

inline void ldmatrix_x4(std::uint32_t (&to)[4], const void* shared_row) {
  emulation::ldmatrix_x4(to, shared_row, false);
}

inline void ldmatrix_x4_transposed(std::uint32_t (&to)[4], const void* shared_row) {
  emulation::ldmatrix_x4(to, shared_row, true);
}

}  // namespace flashlab::cuda::ptx
