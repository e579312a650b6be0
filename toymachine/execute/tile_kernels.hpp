// Arithmetic on tiles: loops over whole rows, and Eigen's matrix product. Compiled three times,
// like the lane kernels; the processor decides at run time. Each build adds in another order, so
// the last bits of a product or a row sum depend on the processor.
#pragma once

#include <array>
#include <cstdint>

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

enum class TileBinaryOp : std::uint8_t { kPlus, kMinus, kTimes, kOver, kMaximum };
enum class TileUnaryOp : std::uint8_t { kCopy, kExponential, kLogarithm };
enum class TileReduceOp : std::uint8_t { kMaximum, kSum };
enum class MaskEdge : std::uint8_t { kRight, kLeft };

/// Results are true if every element written is legal: below +inf and not NaN.
template <class Element>
struct TileKernels {
  using Binary = bool (*)(Block<Element>, Strided<Element>, Strided<Element>);
  using Unary = bool (*)(Block<Element>, Strided<Element>);
  std::array<Binary, 5> binary;  // by TileBinaryOp; an operand may be the block itself
  std::array<Unary, 3> unary;    // by TileUnaryOp; the operand may be the block itself
  /// The result is a block of one column.
  std::array<bool (*)(Block<Element>, Strided<Element>, std::int64_t cols), 2> reduce;
  using Mask = bool (*)(Block<Element>, Strided<Element>, std::int64_t first_row,
                        std::int64_t first_column);
  /// Copies; -inf where column + first_column is greater (kRight) or less (kLeft) than row +
  /// first_row.
  std::array<Mask, 2> mask;  // by MaskEdge
  /// block = a b, or block += a b: only Eigen's product.
  void (*product)(Block<Element>, Factor<Element> a, Factor<Element> b, bool add);
  bool (*legal)(Block<Element>);
  /// Whether no element is NaN, so that all were written.
  bool (*written)(Strided<Element>, std::int64_t rows, std::int64_t cols);
};

template <class Element>
const TileKernels<Element>& tile_kernels();

}  // namespace flashlab::toy::detail
