// Compiled once for each instruction-set extension, each time into a separate namespace with
// the name FLASHLAB_LANES. Eigen's namespace is renamed too, so that the linker cannot mix
// up the templates.
#include "toymachine/execute/tile_kernels.hpp"

#ifndef FLASHLAB_LANES
#define FLASHLAB_LANES baseline
#endif

// An operand may be the block itself, element for element, so iterations are independent. Clang
// finds that out at run time.
#ifdef __clang__
#define FLASHLAB_INDEPENDENT_ITERATIONS
#else
#define FLASHLAB_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

#define FLASHLAB_JOIN(a, b) FLASHLAB_JOIN_EXPANDED(a, b)
#define FLASHLAB_JOIN_EXPANDED(a, b) a##b
#define Eigen FLASHLAB_JOIN(FlashlabEigen_, FLASHLAB_LANES)
#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail::FLASHLAB_LANES {
namespace {

template <class Element>
bool is_legal(Element value) {
  return value < std::numeric_limits<Element>::infinity();
}

/// Joins rows that are contiguous into one long row. A tile's rows are short, and starting and
/// ending a loop is costly.
template <class Element>
void join_rows(Block<Element>& out, bool contiguous) {
  if (!contiguous || out.stride != out.cols) return;
  out.cols *= out.rows;
  out.rows = 1;
}

template <class Element>
bool legal(Block<Element> out) {
  join_rows(out, true);
  int illegal = 0;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const Element* row = out.data + r * out.stride;
    for (std::int64_t c = 0; c < out.cols; ++c) illegal |= is_legal(row[c]) ? 0 : 1;
  }
  return illegal == 0;
}

/// The column strides are compile-time constants, so that the loop vectorises. There is no
/// `restrict`, because an operand may be the block itself.
template <Operation kOperation, int AStride, int BStride, class Element>
void binary_rows(Block<Element> out, Strided<Element> a, Strided<Element> b) {
  join_rows(out,
            AStride == 1 && BStride == 1 && a.row_stride == out.cols && b.row_stride == out.cols);
  for (std::int64_t r = 0; r < out.rows; ++r) {
    Element* to = out.data + r * out.stride;
    const Element* from_a = a.data + r * a.row_stride;
    const Element* from_b = b.data + r * b.row_stride;
    const Element a0 = from_a[0];
    const Element b0 = from_b[0];
    FLASHLAB_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < out.cols; ++c) {
      to[c] = operated(OperationTag<kOperation>(), AStride == 0 ? a0 : from_a[c],
                       BStride == 0 ? b0 : from_b[c]);
    }
  }
}

template <Operation kOperation, class Element>
bool tile_binary(Block<Element> out, Strided<Element> a, Strided<Element> b) {
  if (a.column_stride == 1 && b.column_stride == 1) {
    binary_rows<kOperation, 1, 1>(out, a, b);
  } else if (a.column_stride == 1) {
    binary_rows<kOperation, 1, 0>(out, a, b);
  } else if (b.column_stride == 1) {
    binary_rows<kOperation, 0, 1>(out, a, b);
  } else {
    binary_rows<kOperation, 0, 0>(out, a, b);
  }
  return legal(out);
}

template <Operation kOperation, class Element>
bool tile_ternary(Block<Element> out, Strided<Element> a, Strided<Element> b, Strided<Element> c) {
  for (std::int64_t r = 0; r < out.rows; ++r) {
    Element* to = out.data + r * out.stride;
    const Element* from_a = a.data + r * a.row_stride;
    const Element* from_b = b.data + r * b.row_stride;
    const Element* from_c = c.data + r * c.row_stride;
    FLASHLAB_INDEPENDENT_ITERATIONS
    for (std::int64_t col = 0; col < out.cols; ++col) {
      to[col] = operated(OperationTag<kOperation>(), from_a[col * a.column_stride],
                         from_b[col * b.column_stride], from_c[col * c.column_stride]);
    }
  }
  return legal(out);
}

template <Operation kOperation>
struct TileFunction {
  template <class Element>
  Element operator()(Element a) const {
    return operated(OperationTag<kOperation>(), a);
  }
};

template <class Function, class Element>
bool tile_unary(Block<Element> out, Strided<Element> a) {
  join_rows(out, a.column_stride == 1 && a.row_stride == out.cols);
  int illegal = 0;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    Element* to = out.data + r * out.stride;
    const Element* from = a.data + r * a.row_stride;
    if (a.column_stride == 0) {
      const Element value = Function()(from[0]);
      for (std::int64_t c = 0; c < out.cols; ++c) to[c] = value;
      illegal |= is_legal(value) ? 0 : 1;
      continue;
    }
    FLASHLAB_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < out.cols; ++c) {
      const Element value = Function()(from[c]);
      to[c] = value;
      illegal |= is_legal(value) ? 0 : 1;
    }
  }
  return illegal == 0;
}

template <class Element>
using MappedRow = Eigen::Map<const Eigen::Array<Element, 1, Eigen::Dynamic>>;

template <Operation kOperation, class Element>
bool tile_reduce(Block<Element> out, Strided<Element> a, std::int64_t cols) {
  static_assert(kOperation == Operation::kRowSum || kOperation == Operation::kRowMaximum);
  bool legal = true;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const MappedRow<Element> row(a.data + r * a.row_stride, cols);
    const Element value = kOperation == Operation::kRowSum ? row.sum() : row.maxCoeff();
    out.data[r * out.stride] = value;
    legal = legal && is_legal(value);
  }
  return legal;
}

template <Operation kOperation, class Element>
bool mask(Block<Element> out, Strided<Element> a, std::int64_t first_row,
          std::int64_t first_column) {
  for (std::int64_t r = 0; r < out.rows; ++r) {
    Element* to = out.data + r * out.stride;
    const Element* from = a.data + r * a.row_stride;
    for (std::int64_t c = 0; c < out.cols; ++c) {
      const Element value = from[c * a.column_stride];
      if constexpr (kOperation == Operation::kRowNumber) {
        to[c] = operated(OperationTag<kOperation>(), value, first_row + r);
      } else if constexpr (kOperation == Operation::kColumnNumber) {
        to[c] = operated(OperationTag<kOperation>(), value, first_column + c);
      } else {
        to[c] = operated(OperationTag<kOperation>(), value, first_row + r, first_column + c);
      }
    }
  }
  return true;
}

template <class Element>
using Matrix = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Element, class Stored>
using Mapped = Eigen::Map<Stored, 0, Eigen::OuterStride<>>;

template <class Left, class Right, class Out>
void tile_multiply(const Left& a, const Right& b, Out& out, bool add) {
  if (add) {
    out.noalias() += a * b;
  } else {
    out.noalias() = a * b;
  }
}

template <class Element>
void tile_product(Block<Element> out, Factor<Element> a, Factor<Element> b, bool add) {
  using In = Mapped<Element, const Matrix<Element>>;
  const In left(a.data, a.rows, a.cols, Eigen::OuterStride<>(a.stride));
  const In right(b.data, b.rows, b.cols, Eigen::OuterStride<>(b.stride));
  Mapped<Element, Matrix<Element>> result(out.data, out.rows, out.cols,
                                          Eigen::OuterStride<>(out.stride));
  if (a.transposed && b.transposed) {
    tile_multiply(left.transpose(), right.transpose(), result, add);
  } else if (a.transposed) {
    tile_multiply(left.transpose(), right, result, add);
  } else if (b.transposed) {
    tile_multiply(left, right.transpose(), result, add);
  } else {
    tile_multiply(left, right, result, add);
  }
}

template <class Element>
bool written(Strided<Element> a, std::int64_t rows, std::int64_t cols) {
  int unwritten = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const Element* row = a.data + r * a.row_stride;
    for (std::int64_t c = 0; c < cols; ++c) unwritten |= row[c] == row[c] ? 0 : 1;
  }
  return unwritten == 0;
}

template <class Element>
constexpr TileKernels<Element> kernels() {
  using Kernels = TileKernels<Element>;
  TileKernels<Element> result{};
  result.binary = operation_table<typename Kernels::Binary>(
      []<Operation kOperation>(OperationTag<kOperation>) -> typename Kernels::Binary {
        constexpr OperationSpec kSpec = spec_of(kOperation);
        if constexpr (kSpec.shape == ShapeRule::kElementwise && kSpec.arity == 2) {
          return &tile_binary<kOperation, Element>;
        }
        return nullptr;
      });
  result.ternary = operation_table<typename Kernels::Ternary>(
      []<Operation kOperation>(OperationTag<kOperation>) -> typename Kernels::Ternary {
        constexpr OperationSpec kSpec = spec_of(kOperation);
        if constexpr (kSpec.shape == ShapeRule::kElementwise && kSpec.arity == 3) {
          return &tile_ternary<kOperation, Element>;
        }
        return nullptr;
      });
  result.unary = operation_table<typename Kernels::Unary>(
      []<Operation kOperation>(OperationTag<kOperation>) -> typename Kernels::Unary {
        constexpr OperationSpec kSpec = spec_of(kOperation);
        if constexpr (kSpec.shape == ShapeRule::kElementwise && kSpec.arity == 1) {
          return &tile_unary<TileFunction<kOperation>, Element>;
        }
        return nullptr;
      });
  result.reduce = operation_table<typename Kernels::Reduce>(
      []<Operation kOperation>(OperationTag<kOperation>) -> typename Kernels::Reduce {
        if constexpr (spec_of(kOperation).shape == ShapeRule::kColumn) {
          return &tile_reduce<kOperation, Element>;
        }
        return nullptr;
      });
  result.mask = operation_table<typename Kernels::Mask>(
      []<Operation kOperation>(OperationTag<kOperation>) -> typename Kernels::Mask {
        if constexpr (spec_of(kOperation).shape == ShapeRule::kMask) {
          return &mask<kOperation, Element>;
        }
        return nullptr;
      });
  result.copy = &tile_unary<std::identity, Element>;
  result.product = &tile_product<Element>;
  result.legal = &legal<Element>;
  result.written = &written<Element>;
  return result;
}

}  // namespace

extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
const TileKernels<float> kFloatTiles = kernels<float>();
const TileKernels<double> kDoubleTiles = kernels<double>();

}  // namespace flashlab::toy::detail::FLASHLAB_LANES

#undef Eigen
#undef FLASHLAB_JOIN
#undef FLASHLAB_JOIN_EXPANDED
#undef FLASHLAB_INDEPENDENT_ITERATIONS
