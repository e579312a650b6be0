// An element that is a tile. An instruction's effect on tiles is first recorded as an expression
// (the effects of the instruction table, on views), and then evaluated into the register or cell
// that is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "toymachine/execute/shape.hpp"
#include "toymachine/execute/tile_access.hpp"
#include "toymachine/execute/tile_kernels.hpp"
#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {

/// Row-major. Without rows, it was never written. Memory is kept for reuse. A tile loaded from an
/// input refers to the input's memory, because nothing can write there. All other tiles are
/// contiguous and own their memory.
template <class Element>
class Tile {
 public:
  Shape shape() const { return shape_; }
  bool is_written() const { return shape_.rows > 0; }
  Element* own_data() { return data_.get(); }
  const Element* data() const { return borrowed_ ? borrowed_ : data_.get(); }
  std::int64_t stride() const { return borrowed_ ? stride_ : shape_.cols; }
  void borrow(const Element* data, const Shape& shape, std::int64_t stride) {
    borrowed_ = data;
    stride_ = stride;
    shape_ = shape;
  }
  /// The elements' values are undefined afterwards.
  void reshape(const Shape& shape) {
    const std::int64_t size = shape.rows * shape.cols;
    if (size > capacity_) {
      data_.reset(static_cast<Element*>(::operator new (
          static_cast<std::size_t>(size) * sizeof(Element), std::align_val_t{kAlignment})));
      capacity_ = size;
    }
    borrowed_ = nullptr;
    shape_ = shape;
  }
  /// Of the elements as well, unless they are an input's.
  Tile copy() const {
    Tile result;
    if (borrowed_) {
      result.borrow(borrowed_, shape_, stride_);
    } else if (is_written()) {
      result.reshape(shape_);
      std::copy_n(data_.get(), shape_.rows * shape_.cols, result.own_data());
    }
    return result;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(Element* data) const { ::operator delete (data, std::align_val_t{kAlignment}); }
  };
  Shape shape_{0, 0};
  std::int64_t capacity_ = 0;
  const Element* borrowed_ = nullptr;
  std::int64_t stride_ = 0;  // of the borrowed memory
  std::unique_ptr<Element[], Free> data_;
};

template <class Element>
struct ValueTraits<Tile<Element>> {
  using Cell = Element;
  using Access = TileAccess;
  static constexpr bool kTiles = true;
  static Tile<Element> unwritten() { return {}; }
  static Tile<Element> copy(const Tile<Element>& tile) { return tile.copy(); }
  static Tile<Element> constant(double value) {
    Tile<Element> tile;
    tile.reshape({1, 1});
    tile.own_data()[0] = static_cast<Element>(value);
    return tile;
  }
};

/// An operand, wherever it is stored; `shape` is its shape as it is read.
template <class Element>
struct TileView {
  const Element* data = nullptr;
  Shape shape{1, 1};
  std::int64_t stride = 1;
  bool transposed = false;

  /// As an operand of a result of shape `whole`: a column, or a scalar, is repeated.
  Strided<Element> strided(const Shape& whole) const {
    const bool repeats_row = shape.rows == 1 && whole.rows > 1;
    const bool repeats_column = shape.cols == 1 && whole.cols > 1;
    return {data, repeats_row ? 0 : stride, repeats_column ? 0 : 1};
  }
  Factor<Element> factor() const {
    const Shape stored = transposed ? detail::transposed(shape) : shape;
    return {data, stored.rows, stored.cols, stride, transposed};
  }
};

template <class Element>
struct TileBinary {
  Operation operation;
  TileView<Element> a, b;
};
template <class Element>
struct TileTernary {
  Operation operation;
  TileView<Element> a, b, c;
};
template <class Element>
struct TileUnary {
  Operation operation;
  TileView<Element> a;
};
template <class Element>
struct TileReduce {
  Operation operation;
  TileView<Element> a;
};
template <class Element>
struct TileMask {
  Operation operation;
  TileView<Element> a;
  std::int64_t first_row = 0, first_column = 0;
};
template <class Element>
struct TileProduct {
  TileView<Element> a, b;
};
template <class Element>
struct TileProductSum {
  TileProduct<Element> product;
  TileView<Element> addend;
};

template <Operation kOperation, class E, class... More>
auto operated(OperationTag<kOperation>, const TileView<E>& a, const More&... more) {
  constexpr ShapeRule kRule = spec_of(kOperation).shape;
  if constexpr (kRule == ShapeRule::kProduct) {
    return TileProduct<E>{a, more...};
  } else if constexpr (kRule == ShapeRule::kColumn) {
    return TileReduce<E>{kOperation, a};
  } else if constexpr (kRule == ShapeRule::kMask) {
    if constexpr (kOperation == Operation::kColumnNumber) {
      return TileMask<E>{kOperation, a, 0, more...};
    } else {
      return TileMask<E>{kOperation, a, more...};
    }
  } else if constexpr (sizeof...(more) == 0) {
    return TileUnary<E>{kOperation, a};
  } else if constexpr (sizeof...(more) == 2) {
    return TileTernary<E>{kOperation, a, more...};
  } else {
    return TileBinary<E>{kOperation, a, more...};
  }
}
template <class E>
TileProductSum<E> operated(OperationTag<Operation::kPlus>, const TileProduct<E>& product,
                           const TileView<E>& addend) {
  return {product, addend};
}

/// All overloads return true if every element written is legal. The operands match and
/// fill the block.
template <class E>
bool evaluate(const TileView<E>& a, Block<E> out) {
  return tile_kernels<E>().copy(out, a.strided({out.rows, out.cols}));
}
template <class E>
bool evaluate(const TileBinary<E>& e, Block<E> out) {
  const Shape whole{out.rows, out.cols};
  const auto at = static_cast<std::size_t>(e.operation);
  return tile_kernels<E>().binary[at](out, e.a.strided(whole), e.b.strided(whole));
}
template <class E>
bool evaluate(const TileTernary<E>& e, Block<E> out) {
  const Shape whole{out.rows, out.cols};
  const auto at = static_cast<std::size_t>(e.operation);
  return tile_kernels<E>().ternary[at](out, e.a.strided(whole), e.b.strided(whole),
                                       e.c.strided(whole));
}
template <class E>
bool evaluate(const TileUnary<E>& e, Block<E> out) {
  const auto at = static_cast<std::size_t>(e.operation);
  return tile_kernels<E>().unary[at](out, e.a.strided({out.rows, out.cols}));
}
template <class E>
bool evaluate(const TileReduce<E>& e, Block<E> out) {
  const auto at = static_cast<std::size_t>(e.operation);
  return tile_kernels<E>().reduce[at](out, {e.a.data, e.a.stride, 1}, e.a.shape.cols);
}
template <class E>
bool evaluate(const TileMask<E>& e, Block<E> out) {
  const auto at = static_cast<std::size_t>(e.operation);
  return tile_kernels<E>().mask[at](out, e.a.strided({out.rows, out.cols}), e.first_row,
                                    e.first_column);
}
template <class E>
bool evaluate(const TileProduct<E>& e, Block<E> out) {
  tile_kernels<E>().product(out, e.a.factor(), e.b.factor(), false);
  return tile_kernels<E>().legal(out);
}
template <class E>
bool evaluate(const TileProductSum<E>& e, Block<E> out) {
  // A sum that begins with FILL 0 begins as a product, without writing and reading a tile of zeros.
  const bool from_zero = e.addend.shape.is_scalar() && *e.addend.data == 0;
  if (!from_zero && e.addend.data != out.data) evaluate(e.addend, out);
  tile_kernels<E>().product(out, e.product.a.factor(), e.product.b.factor(), !from_zero);
  return tile_kernels<E>().legal(out);
}

}  // namespace flashlab::toy::detail
