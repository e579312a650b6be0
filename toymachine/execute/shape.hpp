// The shape of a register, and the effects of the instruction table on shapes. The extents are
// numbers, or formulas in the loops (dimension.hpp).
#pragma once

#include <cstdint>

#include "toymachine/language/operations.hpp"

namespace flashlab::toy::detail {

inline bool is_one(std::int64_t extent) { return extent == 1; }

template <class Extent>
struct BasicShape {
  Extent rows{};
  Extent cols{};
  bool fits = true;  // false: the operands that it was made from do not match

  bool is_scalar() const { return is_one(rows) && is_one(cols); }
  friend bool operator==(const BasicShape& a, const BasicShape& b) = default;
};

using Shape = BasicShape<std::int64_t>;

template <class Extent>
BasicShape<Extent> misfit() {
  BasicShape<Extent> shape;
  shape.fits = false;
  return shape;
}

template <class Extent>
BasicShape<Extent> transposed(const BasicShape<Extent>& a) {
  return {a.cols, a.rows, a.fits};
}

/// For elementwise operations: a scalar matches everything, a column every tile with the same
/// number of rows, and a row every tile with the same number of columns.
template <class Extent>
BasicShape<Extent> broadcast(const BasicShape<Extent>& a, const BasicShape<Extent>& b) {
  if (!a.fits || !b.fits) return misfit<Extent>();
  if (a == b || b.is_scalar()) return a;
  if (a.is_scalar()) return b;
  const bool rows_fit = a.rows == b.rows || is_one(a.rows) || is_one(b.rows);
  const bool columns_fit = a.cols == b.cols || is_one(a.cols) || is_one(b.cols);
  if (!rows_fit || !columns_fit) return misfit<Extent>();
  return {is_one(a.rows) ? b.rows : a.rows, is_one(a.cols) ? b.cols : a.cols};
}

/// The same for three operands, of which any two may differ from the result.
template <class Extent>
BasicShape<Extent> broadcast_of_three(const BasicShape<Extent>& a, const BasicShape<Extent>& b,
                                      const BasicShape<Extent>& c) {
  return broadcast(broadcast(a, b), c);
}

/// A matrix product; adding to it does not enlarge it.
template <class Extent>
struct ProductShape : BasicShape<Extent> {};

template <Operation kOperation, class Extent, class... More>
auto operated(OperationTag<kOperation>, const BasicShape<Extent>& a, const More&... more) {
  constexpr ShapeRule kRule = spec_of(kOperation).shape;
  if constexpr (kRule == ShapeRule::kProduct) {
    const BasicShape<Extent>& b = (more, ...);
    return ProductShape<Extent>{{a.rows, b.cols, a.fits && b.fits && a.cols == b.rows}};
  } else if constexpr (kRule == ShapeRule::kColumn) {
    return BasicShape<Extent>{a.rows, Extent{1}, a.fits};
  } else if constexpr (kRule == ShapeRule::kElementwise && sizeof...(more) == 1) {
    return broadcast<Extent>(a, more...);
  } else if constexpr (kRule == ShapeRule::kElementwise && sizeof...(more) == 2) {
    return broadcast_of_three<Extent>(a, more...);
  } else {
    static_assert(kRule == ShapeRule::kMask || sizeof...(more) == 0);
    return BasicShape<Extent>(a);
  }
}
template <class Extent>
BasicShape<Extent> operated(OperationTag<Operation::kPlus>, const ProductShape<Extent>& a,
                            const BasicShape<Extent>& b) {
  const BasicShape<Extent>& whole = a;
  return broadcast(whole, b) == whole ? whole : misfit<Extent>();
}

/// The work of one execution (see FlopKind). `first` is the shape of the first operand as it is
/// read, `written` that of the result.
inline std::int64_t work(FlopKind kind, const Shape& first, const Shape& written) {
  if (kind == FlopKind::kReduction) return first.rows * (first.cols - 1);
  const std::int64_t elements = written.rows * written.cols;
  return kind == FlopKind::kProduct ? elements * first.cols : elements;
}

}  // namespace flashlab::toy::detail
