// Views of a head as Eigen maps, so that a line of a variant is a line of its pseudo-code.
// Elementwise operations are written where they are used. The matrix products, which compile
// slowly, are functions in variants/products.cpp.
#pragma once

#include "attention_cpu/detail/build.hpp"
//
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attention/score.hpp"
#include "attention/visible_keys.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
using RowMajorArray = Eigen::Array<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// Rows of a matrix in other memory; `outerStride()` elements from one row to the next.
template <class Element>
using Tile = Eigen::Map<RowMajorArray<Element>, 0, Eigen::OuterStride<>>;
template <class Element>
using ConstTile = Eigen::Map<const RowMajorArray<Element>, 0, Eigen::OuterStride<>>;
/// One number for each row of a tile.
template <class Element>
using Column = Eigen::Map<Eigen::Array<Element, Eigen::Dynamic, 1>>;

template <class Element>
inline constexpr Element kInfinity = std::numeric_limits<Element>::infinity();

/// Rows of a tile, columns of a tile, queries or keys.
struct Range {
  std::int64_t first = 0, count = 0;
};

template <class Element>
Tile<Element> columns(Tile<Element> tile, const Range& range) {
  return {tile.data() + range.first, tile.rows(), range.count,
          Eigen::OuterStride<>(tile.outerStride())};
}

using flashlab::make_scores;

/// Replaces softmax_scale Q K^T by the scores.
template <class Element>
void make_scores(Tile<Element> S) {
  for (std::int64_t r = 0; r < S.rows(); ++r) make_scores(S.row(r).data(), S.cols());
}

/// C = scale A B^T
template <class Element>
void set_product(Element scale, const ConstTile<Element>& A, const ConstTile<Element>& B,
                 Tile<Element> C);

/// C += A B, where row r of A has weights for the rows weighed[r] of B and is 0 elsewhere. The other
/// rows of B are not used, even if they are NaN or infinite.
template <class Element>
void add_product(const Tile<Element>& A, const ConstTile<Element>& B, const KeyRange* weighed,
                 Tile<Element> C);

/// C += A^T B, where row r of B is used for the rows weighed[r] of C; A is 0 for the others.
template <class Element>
void add_transposed_product(const Tile<Element>& A, const ConstTile<Element>& B,
                            const KeyRange* weighed, Tile<Element> C);

/// The part of a row in a range of columns.
template <class Row>
auto segment_of(Row&& row, const KeyRange& range) {
  return row.segment(range.first, range.count());
}

/// Returns the largest number of a row, -inf for an empty row, any number if one of them is NaN.
template <class Row>
auto largest(const Row& row) {
  using Element = typename Row::Scalar;
  return row.size() == 0 ? -kInfinity<Element> : row.maxCoeff();
}

/// The value to subtract from a row's scores: its maximum, or 0 for a row of only -inf, because
/// -inf - (-inf) is NaN.
template <class Element>
Element shift_of(Element row_max) {
  return row_max == -kInfinity<Element> ? 0 : row_max;
}

/// The divisor of a row: its sum, or 1 for a row without weights, whose output is 0.
template <class Element>
Element divisor_of(Element row_sum) {
  return row_sum == 0 ? 1 : row_sum;
}

/// m + log l; -inf for a row without weights.
template <class Element>
Element logsumexp(Element row_max, Element row_sum) {
  return row_sum == 0 ? -kInfinity<Element> : row_max + std::log(row_sum);
}

/// e^x for each x of a row; NaN for NaN, exactly 0 for -inf. Eigen's exp never returns less than a
/// quarter of the smallest normal number, so that number is subtracted. This does not change values
/// that are 2^25 times as large.
template <class Row>
void exponentiate(Row&& row) {
  using Element = typename std::decay_t<Row>::Scalar;
  row = row.exp() - std::numeric_limits<Element>::min();
  Element* const weights = row.data();
  for (Eigen::Index k = 0; k < row.size(); ++k) weights[k] = weights[k] < 0 ? 0 : weights[k];
}

/// Sets the columns of a row outside a range.
template <class Row>
void set_outside(Row&& row, const KeyRange& range, typename std::decay_t<Row>::Scalar value) {
  row.head(range.first).setConstant(value);
  row.tail(row.size() - range.end).setConstant(value);
}

/// Converts a row of scores to weights: e^(s - shift) for the visible ones, 0 for the others.
template <class Row>
void weigh(Row&& row, const KeyRange& visible, typename std::decay_t<Row>::Scalar shift) {
  segment_of(row, visible) -= shift;
  exponentiate(segment_of(row, visible));
  set_outside(row, visible, 0);
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
