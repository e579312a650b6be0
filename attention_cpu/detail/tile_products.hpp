// Tiles of the caller's tensors as matrices, and sums of their products without a heap.
#pragma once

#include "attention_cpu/detail/build.hpp"
//
#include <Eigen/Core>
#include <cstdint>

#include "attention_cpu/detail/call.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
using Tile = Eigen::Map<Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                        Eigen::OuterStride<>>;
template <class Element>
using ConstTile =
    Eigen::Map<const Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

/// [num_rows, num_columns] from row `first_row` and column `first_column` of one head.
template <class Element>
Tile<Element> tile_of(const Heads<Element>& heads, std::int64_t b, std::int64_t h,
                      std::int64_t first_row, std::int64_t num_rows, std::int64_t first_column,
                      std::int64_t num_columns) {
  return {heads.head(b, h) + first_row * heads.row_stride + first_column, num_rows, num_columns,
          Eigen::OuterStride<>(heads.row_stride)};
}
template <class Element>
ConstTile<Element> tile_of(const Heads<const Element>& heads, std::int64_t b, std::int64_t h,
                           std::int64_t first_row, std::int64_t num_rows, std::int64_t first_column,
                           std::int64_t num_columns) {
  return {heads.head(b, h) + first_row * heads.row_stride + first_column, num_rows, num_columns,
          Eigen::OuterStride<>(heads.row_stride)};
}

/// What Eigen packs of a product of this size fits its stack buffers; above, it would go to the
/// heap in every thread, and could fail there.
inline constexpr std::int64_t kProductBlock = 128;
static_assert(kProductBlock * kProductBlock * sizeof(double) <= EIGEN_STACK_ALLOCATION_LIMIT);

/// sum += left right
template <class Left, class Right, class Sum>
void add_product(const Left& left, const Right& right, Sum&& sum) {
  const auto size = [](std::int64_t first, std::int64_t all) {
    return all - first < kProductBlock ? all - first : kProductBlock;
  };
  const std::int64_t num_rows = left.rows(), depth = left.cols(), num_columns = right.cols();
  for (std::int64_t i = 0; i < num_rows; i += kProductBlock) {
    for (std::int64_t j = 0; j < num_columns; j += kProductBlock) {
      auto part = sum.block(i, j, size(i, num_rows), size(j, num_columns));
      for (std::int64_t k = 0; k < depth; k += kProductBlock) {
        part.noalias() += left.block(i, k, size(i, num_rows), size(k, depth)) *
                          right.block(k, j, size(k, depth), size(j, num_columns));
      }
    }
  }
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
