// Matrix products by cuBLAS, for variants that study the steps between the products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attention_cuda/detail/call.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

/// Device memory for the library's own use.
inline constexpr std::int64_t kLibraryScratchBytes = std::int64_t{32} << 20;

/// C [rows, columns] = alpha A [rows, depth] B [depth, columns] + beta C, `batch` times.
struct ProductShape {
  std::int64_t rows, columns, depth, batch;
  float alpha = 1, beta = 0;
};

/// Row-major matrices with contiguous columns; strides in elements.
struct ProductOperand {
  const void* data;
  std::int64_t row_stride, batch_stride;
  bool is_transposed = false;  // stored as [columns, rows]; row_stride belongs to the stored matrix
};
struct ProductResult {
  void* data;
  std::int64_t row_stride, batch_stride;
  DataType dtype = DataType::kFloat32;  // or the operands'
};

/// Runs one step of the call, called `name`; sums in fp32.
///
/// arithmetic  the types of A and B; products tf32: the upper 19 bits of operands are multiplied
/// scratch     [kLibraryScratchBytes], 256-byte aligned
/// Errors      CudaError
/// Bits        reproducible on one kind of GPU
/// Memory      the first call on a device creates the library's handle, which allocates
void library_product(const Call& call, std::string_view name, const Arithmetic& arithmetic,
                     const ProductShape& shape, const ProductOperand& A, const ProductOperand& B,
                     const ProductResult& C, std::byte* scratch);

}  // namespace flashlab::cuda
