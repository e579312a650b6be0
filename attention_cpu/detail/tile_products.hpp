// Tiles of the caller's tensors as matrices, and sums of their products without heap memory.
#pragma once

#include "attention_cpu/detail/build.hpp"
//
#include <Eigen/Core>
#include <cstdint>

#include "attention_cpu/detail/call.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
using MatrixTile =
    Eigen::Map<Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;
template <class Element>
using ConstMatrixTile =
    Eigen::Map<const Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

/// [num_rows, num_columns] from row `first_row` and column `first_column` of one head.
template <class Element>
MatrixTile<Element> tile_of(const Heads<Element>& heads, std::int64_t b, std::int64_t h,
                            std::int64_t first_row, std::int64_t num_rows,
                            std::int64_t first_column, std::int64_t num_columns) {
  return {heads.head(b, h) + first_row * heads.row_stride + first_column, num_rows, num_columns,
          Eigen::OuterStride<>(heads.row_stride)};
}
template <class Element>
ConstMatrixTile<Element> tile_of(const Heads<const Element>& heads, std::int64_t b, std::int64_t h,
                                 std::int64_t first_row, std::int64_t num_rows,
                                 std::int64_t first_column, std::int64_t num_columns) {
  return {heads.head(b, h) + first_row * heads.row_stride + first_column, num_rows, num_columns,
          Eigen::OuterStride<>(heads.row_stride)};
}

/// Eigen's packed operands for this size fit its stack buffers. A larger product would allocate
/// heap memory in every thread, which could fail there.
inline constexpr std::int64_t kProductBlock = 128;
static_assert(kProductBlock * kProductBlock * sizeof(double) <= EIGEN_STACK_ALLOCATION_LIMIT);

/// A factor of a product: rows x columns, `stride` elements from one stored row to the next. It may
/// be stored as its transpose.
template <class Element>
struct Factor {
  const Element* data;
  std::int64_t rows, columns, stride;
  bool is_transposed;
};

/// sum += left right, for matrices that are not both transposed. Implemented in
/// variants/products.cpp, because Eigen's products compile slowly.
template <class Element>
void add_factors(const Factor<Element>& left, const Factor<Element>& right,
                 MatrixTile<Element> sum);

template <class Matrix>
Factor<typename Matrix::Scalar> factor_of(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), matrix.outerStride(), !Matrix::IsRowMajor};
}

/// sum += left right, for tiles, their transposes and parts.
template <class Left, class Right, class Element>
void add_product(const Left& left, const Right& right, const MatrixTile<Element>& sum) {
  add_factors<Element>(factor_of(left), factor_of(right), sum);
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
