// Stands in for attention_cuda/ptx/ldmatrix.cuh. Throws if a row does not lie in shared memory or
// is not aligned.
#pragma once

#include <cstdint>

#include "attention_cuda/emulation/tensor_core.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline void ldmatrix_x4(std::uint32_t (&to)[4], const void* shared_row) {
  emulation::ldmatrix_x4(to, shared_row, false);
}

inline void ldmatrix_x4_transposed(std::uint32_t (&to)[4], const void* shared_row) {
  emulation::ldmatrix_x4(to, shared_row, true);
}

inline void ldmatrix_x4(std::uint32_t (&to)[4], SharedAddress row) {
  ldmatrix_x4(to, reinterpret_cast<const void*>(row));
}
inline void ldmatrix_x4_transposed(std::uint32_t (&to)[4], SharedAddress row) {
  ldmatrix_x4_transposed(to, reinterpret_cast<const void*>(row));
}

}  // namespace flashlab::cuda::ptx
