// The matrix products of the readable variants, with Eigen.
//
// Eigen packs both operands into stack memory up to a limit and allocates heap memory beyond it.
// Tiles of kBlockQ x head_dim and kBlockKV x head_dim stay below the limit.
#include "attention_cpu/detail/build.hpp"
//
#include "attention/problem.hpp"
#include "attention_cpu/detail/finite.hpp"
#include "attention_cpu/detail/matrix.hpp"
#include "attention_cpu/detail/tile_products.hpp"
#include "attention_cpu/detail/tiles.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
constexpr bool fits_on_stack(std::int64_t rows) {
  return rows * kMaxHeadDim * std::int64_t{sizeof(Element)} <= EIGEN_STACK_ALLOCATION_LIMIT;
}
static_assert(fits_on_stack<float>(kBlockQ<float>) && fits_on_stack<float>(kBlockKV<float>));
static_assert(fits_on_stack<double>(kBlockQ<double>) && fits_on_stack<double>(kBlockKV<double>));

template <class Element>
bool is_finite_tile(const ConstTile<Element>& tile) {
  return is_finite(Operand<const Element>{tile.data(), tile.outerStride()}, tile.rows(),
                   tile.cols());
}

/// Converts operands to matrices of one type: each further type costs a second of compile time.
template <class Array>
ConstMatrixTile<typename Array::Scalar> as_matrix(const Array& tile) {
  return {tile.data(), tile.rows(), tile.cols(), Eigen::OuterStride<>(tile.outerStride())};
}
template <class Element>
MatrixTile<Element> as_sum(Tile<Element>& tile) {
  return {tile.data(), tile.rows(), tile.cols(), Eigen::OuterStride<>(tile.outerStride())};
}

/// A part of a factor, as stored.
template <class Element>
ConstMatrixTile<Element> stored_part(const Factor<Element>& factor, std::int64_t row,
                                     std::int64_t column, std::int64_t num_rows,
                                     std::int64_t num_columns) {
  if (factor.is_transposed) {
    return {factor.data + column * factor.stride + row, num_columns, num_rows,
            Eigen::OuterStride<>(factor.stride)};
  }
  return {factor.data + row * factor.stride + column, num_rows, num_columns,
          Eigen::OuterStride<>(factor.stride)};
}

}  // namespace

template <class Element>
void add_factors(const Factor<Element>& left, const Factor<Element>& right,
                 MatrixTile<Element> sum) {
  const auto size = [](std::int64_t first, std::int64_t all) {
    return all - first < kProductBlock ? all - first : kProductBlock;
  };
  for (std::int64_t i = 0; i < left.rows; i += kProductBlock) {
    for (std::int64_t j = 0; j < right.columns; j += kProductBlock) {
      const std::int64_t num_rows = size(i, left.rows), num_columns = size(j, right.columns);
      MatrixTile<Element> part(sum.data() + i * sum.outerStride() + j, num_rows, num_columns,
                               Eigen::OuterStride<>(sum.outerStride()));
      for (std::int64_t k = 0; k < left.columns; k += kProductBlock) {
        const std::int64_t depth = size(k, left.columns);
        const auto A = stored_part(left, i, k, num_rows, depth);
        const auto B = stored_part(right, k, j, depth, num_columns);
        if (left.is_transposed) {
          part.noalias() += A.transpose() * B;
        } else if (right.is_transposed) {
          part.noalias() += A * B.transpose();
        } else {
          part.noalias() += A * B;
        }
      }
    }
  }
}

template <class Element>
void set_product(Element scale, const ConstTile<Element>& A, const ConstTile<Element>& B,
                 Tile<Element> C) {
  as_sum(C).noalias() = scale * as_matrix(A) * as_matrix(B).transpose();
}

template <class Element>
void add_product(const Tile<Element>& A, const ConstTile<Element>& B, const KeyRange* weighed,
                 Tile<Element> C) {
  if (is_finite_tile(B)) {
    as_sum(C).noalias() += as_matrix(A) * as_matrix(B);
    return;
  }
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t k = weighed[r].first; k < weighed[r].end; ++k) C.row(r) += A(r, k) * B.row(k);
  }
}

template <class Element>
void add_transposed_product(const Tile<Element>& A, const ConstTile<Element>& B,
                            const KeyRange* weighed, Tile<Element> C) {
  if (is_finite_tile(B)) {
    as_sum(C).noalias() += as_matrix(A).transpose() * as_matrix(B);
    return;
  }
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t k = weighed[r].first; k < weighed[r].end; ++k) C.row(k) += A(r, k) * B.row(r);
  }
}

template void add_factors(const Factor<float>&, const Factor<float>&, MatrixTile<float>);
template void add_factors(const Factor<double>&, const Factor<double>&, MatrixTile<double>);
template void set_product(float, const ConstTile<float>&, const ConstTile<float>&, Tile<float>);
template void set_product(double, const ConstTile<double>&, const ConstTile<double>&, Tile<double>);
template void add_product(const Tile<float>&, const ConstTile<float>&, const KeyRange*,
                          Tile<float>);
template void add_product(const Tile<double>&, const ConstTile<double>&, const KeyRange*,
                          Tile<double>);
template void add_transposed_product(const Tile<float>&, const ConstTile<float>&, const KeyRange*,
                                     Tile<float>);
template void add_transposed_product(const Tile<double>&, const ConstTile<double>&, const KeyRange*,
                                     Tile<double>);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
