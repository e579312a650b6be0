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
  TileBinaryOp op;
  TileView<Element> a, b;
};
template <class Element>
struct TileUnary {
  TileUnaryOp op;
  TileView<Element> a;
};
template <class Element>
struct TileReduce {
  TileReduceOp op;
  TileView<Element> a;
};
template <class Element>
struct TileMask {
  MaskEdge edge;
  TileView<Element> a;
  std::int64_t first_row, first_column;
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

template <class E>
TileBinary<E> operator+(const TileView<E>& a, const TileView<E>& b) {
  return {TileBinaryOp::kPlus, a, b};
}
template <class E>
TileBinary<E> operator-(const TileView<E>& a, const TileView<E>& b) {
  return {TileBinaryOp::kMinus, a, b};
}
template <class E>
TileBinary<E> operator*(const TileView<E>& a, const TileView<E>& b) {
  return {TileBinaryOp::kTimes, a, b};
}
template <class E>
TileBinary<E> operator/(const TileView<E>& a, const TileView<E>& b) {
  return {TileBinaryOp::kOver, a, b};
}
template <class E>
TileBinary<E> maximum(const TileView<E>& a, const TileView<E>& b) {
  return {TileBinaryOp::kMaximum, a, b};
}
template <class E>
TileUnary<E> exponential(const TileView<E>& a) {
  return {TileUnaryOp::kExponential, a};
}
template <class E>
TileUnary<E> logarithm(const TileView<E>& a) {
  return {TileUnaryOp::kLogarithm, a};
}
template <class E>
TileReduce<E> row_maximum(const TileView<E>& a) {
  return {TileReduceOp::kMaximum, a};
}
template <class E>
TileReduce<E> row_sum(const TileView<E>& a) {
  return {TileReduceOp::kSum, a};
}
template <class E>
TileMask<E> masked(const TileView<E>& a, std::int64_t first_row, std::int64_t first_column) {
  return {MaskEdge::kRight, a, first_row, first_column};
}
template <class E>
TileMask<E> masked_left(const TileView<E>& a, std::int64_t first_row, std::int64_t first_column) {
  return {MaskEdge::kLeft, a, first_row, first_column};
}
template <class E>
TileProduct<E> product(const TileView<E>& a, const TileView<E>& b) {
  return {a, b};
}
template <class E>
TileProductSum<E> operator+(const TileProduct<E>& product, const TileView<E>& addend) {
  return {product, addend};
}

/// All overloads return true if every element written is legal. The operands match and
/// fill the block.
template <class E>
bool evaluate(const TileView<E>& a, Block<E> out) {
  return evaluate(TileUnary<E>{TileUnaryOp::kCopy, a}, out);
}
template <class E>
bool evaluate(const TileBinary<E>& e, Block<E> out) {
  const Shape whole{out.rows, out.cols};
  const auto op = static_cast<std::size_t>(e.op);
  return tile_kernels<E>().binary[op](out, e.a.strided(whole), e.b.strided(whole));
}
template <class E>
bool evaluate(const TileUnary<E>& e, Block<E> out) {
  const auto op = static_cast<std::size_t>(e.op);
  return tile_kernels<E>().unary[op](out, e.a.strided({out.rows, out.cols}));
}
template <class E>
bool evaluate(const TileReduce<E>& e, Block<E> out) {
  const auto op = static_cast<std::size_t>(e.op);
  return tile_kernels<E>().reduce[op](out, {e.a.data, e.a.stride, 1}, e.a.shape.cols);
}
template <class E>
bool evaluate(const TileMask<E>& e, Block<E> out) {
  const auto edge = static_cast<std::size_t>(e.edge);
  return tile_kernels<E>().mask[edge](out, e.a.strided({out.rows, out.cols}), e.first_row,
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
