// Arithmetic on tiles: loops over whole rows, and Eigen's matrix product. Compiled three times,
// like the lane kernels; the processor decides at run time. Each build adds in another order, so
// the last bits of a product or a row sum depend on the processor.
#pragma once

#include <array>
#include <cstdint>

#include "toymachine/language/operations.hpp"

namespace flashlab::toy::detail {

/// Rows and columns in memory. A stride of 0 repeats: a broadcast column has column_stride 0, a
/// broadcast scalar has both 0.
template <class Element>
struct Strided {
  const Element* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;  // 0 or 1
};

/// A block to write. Its columns are contiguous.
template <class Element>
struct Block {
  Element* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t stride = 0;  // elements from one row to the next
};

/// A factor of a product as stored; `transposed` says how it is read.
template <class Element>
struct Factor {
  const Element* data = nullptr;
  std::int64_t rows = 0, cols = 0, stride = 0;
  bool transposed = false;
};

/// Tables by operation; an operation of another kind has no kernel. Results are true if every element
/// written is legal: below +inf and not NaN.
template <class Element>
struct TileKernels {
  using Binary = bool (*)(Block<Element>, Strided<Element>, Strided<Element>);
  using Ternary = bool (*)(Block<Element>, Strided<Element>, Strided<Element>, Strided<Element>);
  using Unary = bool (*)(Block<Element>, Strided<Element>);
  /// The result is a block of one column.
  using Reduce = bool (*)(Block<Element>, Strided<Element>, std::int64_t cols);
  using Mask = bool (*)(Block<Element>, Strided<Element>, std::int64_t first_row,
                        std::int64_t first_column);
  std::array<Binary, kNumOperations> binary;    // an operand may be the block itself
  std::array<Ternary, kNumOperations> ternary;  // the same
  std::array<Unary, kNumOperations> unary;      // the operand may be the block itself
  std::array<Reduce, kNumOperations> reduce;
  std::array<Mask, kNumOperations> mask;
  Unary copy;
  /// block = a b, or block += a b: only Eigen's product.
  void (*product)(Block<Element>, Factor<Element> a, Factor<Element> b, bool add);
  bool (*legal)(Block<Element>);
  /// Whether no element is NaN, so that all were written.
  bool (*written)(Strided<Element>, std::int64_t rows, std::int64_t cols);
};

template <class Element>
const TileKernels<Element>& tile_kernels();

}  // namespace flashlab::toy::detail
