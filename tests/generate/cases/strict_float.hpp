// Floats whose tiles are computed in a fixed order, each operation rounded by itself: the reference
// for generated code. The machine's own tiles add in the order that is fastest on the processor.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "toymachine/execute/execute_tile.hpp"

namespace flashlab::test {

struct StrictFloat {
  float value;
  StrictFloat() = default;
  explicit StrictFloat(double v) : value(static_cast<float>(v)) {}
  explicit operator double() const { return static_cast<double>(value); }
  friend bool operator<(StrictFloat a, StrictFloat b) { return a.value < b.value; }
  friend bool operator==(StrictFloat a, int b) { return a.value == static_cast<float>(b); }
};
static_assert(sizeof(StrictFloat) == sizeof(float));

}  // namespace flashlab::test

template <>
struct std::numeric_limits<flashlab::test::StrictFloat> {
  static flashlab::test::StrictFloat infinity() {
    return flashlab::test::StrictFloat(std::numeric_limits<double>::infinity());
  }
};

namespace flashlab::test {

using StrictBlock = toy::detail::Block<StrictFloat>;
using StrictOperand = toy::detail::Strided<StrictFloat>;
using StrictFactor = toy::detail::Factor<StrictFloat>;

inline float strict_element(const StrictOperand& a, std::int64_t row, std::int64_t col) {
  return a.data[row * a.row_stride + col * a.column_stride].value;
}
inline float strict_element(const StrictFactor& a, std::int64_t row, std::int64_t col) {
  return a.transposed ? a.data[col * a.stride + row].value : a.data[row * a.stride + col].value;
}
inline bool strictly_legal(StrictBlock out) {
  bool legal = true;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    for (std::int64_t c = 0; c < out.cols; ++c) {
      legal = legal && out.data[r * out.stride + c].value < INFINITY;
    }
  }
  return legal;
}

/// Writes element(row, col) everywhere.
template <class Element>
bool fill_strictly(StrictBlock out, const Element& element) {
  for (std::int64_t r = 0; r < out.rows; ++r) {
    for (std::int64_t c = 0; c < out.cols; ++c) out.data[r * out.stride + c].value = element(r, c);
  }
  return strictly_legal(out);
}

template <class Function>
bool strict_binary(StrictBlock out, StrictOperand a, StrictOperand b) {
  return fill_strictly(out, [&](std::int64_t r, std::int64_t c) {
    return Function()(strict_element(a, r, c), strict_element(b, r, c));
  });
}
template <class Function>
bool strict_ternary(StrictBlock out, StrictOperand a, StrictOperand b, StrictOperand c) {
  return fill_strictly(out, [&](std::int64_t row, std::int64_t col) {
    return Function()(strict_element(a, row, col), strict_element(b, row, col),
                      strict_element(c, row, col));
  });
}
template <class Function>
bool strict_unary(StrictBlock out, StrictOperand a) {
  return fill_strictly(
      out, [&](std::int64_t r, std::int64_t c) { return Function()(strict_element(a, r, c)); });
}
template <class Function>
bool strict_reduce(StrictBlock out, StrictOperand a, std::int64_t cols) {
  return fill_strictly(out, [&](std::int64_t r, std::int64_t) {
    float result = strict_element(a, r, 0);
    for (std::int64_t c = 1; c < cols; ++c) result = Function()(result, strict_element(a, r, c));
    return result;
  });
}
template <toy::Operation kOperation>
bool strict_mask(StrictBlock out, StrictOperand a, std::int64_t row, std::int64_t col) {
  return fill_strictly(out, [&](std::int64_t r, std::int64_t c) {
    const toy::detail::OperationTag<kOperation> operation;
    const float value = strict_element(a, r, c);
    if constexpr (kOperation == toy::Operation::kRowNumber) {
      return operated(operation, value, row + r);
    } else if constexpr (kOperation == toy::Operation::kColumnNumber) {
      return operated(operation, value, col + c);
    } else {
      return operated(operation, value, row + r, col + c);
    }
  });
}
inline void strict_product(StrictBlock out, StrictFactor a, StrictFactor b, bool add) {
  const std::int64_t inner = a.transposed ? a.rows : a.cols;
  fill_strictly(out, [&](std::int64_t r, std::int64_t c) {
    float sum = strict_element(a, r, 0) * strict_element(b, 0, c);
    for (std::int64_t k = 1; k < inner; ++k) {
      sum = sum + strict_element(a, r, k) * strict_element(b, k, c);
    }
    return add ? sum + out.data[r * out.stride + c].value : sum;
  });
}
inline bool strictly_written(StrictOperand a, std::int64_t rows, std::int64_t cols) {
  bool written = true;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      written = written && !std::isnan(strict_element(a, r, c));
    }
  }
  return written;
}

/// An operation on numbers, as the machine's scalars have it.
template <toy::Operation kOperation>
struct StrictFunction {
  template <class... Numbers>
  float operator()(Numbers... numbers) const {
    return operated(toy::detail::OperationTag<kOperation>(), numbers...);
  }
};

}  // namespace flashlab::test

namespace flashlab::toy::detail {

template <>
inline const TileKernels<test::StrictFloat>& tile_kernels<test::StrictFloat>() {
  using namespace test;
  static constexpr TileKernels<StrictFloat> kKernels = [] {
    using Kernels = TileKernels<StrictFloat>;
    Kernels kernels{};
    kernels.binary = operation_table<Kernels::Binary>(
        []<Operation kOperation>(OperationTag<kOperation>) -> Kernels::Binary {
          constexpr OperationSpec kSpec = spec_of(kOperation);
          if constexpr (kSpec.shape == ShapeRule::kElementwise && kSpec.arity == 2) {
            return &strict_binary<StrictFunction<kOperation>>;
          }
          return nullptr;
        });
    kernels.ternary = operation_table<Kernels::Ternary>(
        []<Operation kOperation>(OperationTag<kOperation>) -> Kernels::Ternary {
          constexpr OperationSpec kSpec = spec_of(kOperation);
          if constexpr (kSpec.shape == ShapeRule::kElementwise && kSpec.arity == 3) {
            return &strict_ternary<StrictFunction<kOperation>>;
          }
          return nullptr;
        });
    kernels.unary = operation_table<Kernels::Unary>(
        []<Operation kOperation>(OperationTag<kOperation>) -> Kernels::Unary {
          constexpr OperationSpec kSpec = spec_of(kOperation);
          if constexpr (kSpec.shape == ShapeRule::kElementwise && kSpec.arity == 1) {
            return &strict_unary<StrictFunction<kOperation>>;
          }
          return nullptr;
        });
    kernels.reduce = operation_table<Kernels::Reduce>(
        []<Operation kOperation>(OperationTag<kOperation>) -> Kernels::Reduce {
          if constexpr (kOperation == Operation::kRowMaximum) {
            return &strict_reduce<StrictFunction<Operation::kMaximum>>;
          } else if constexpr (kOperation == Operation::kRowSum) {
            return &strict_reduce<StrictFunction<Operation::kPlus>>;
          }
          return nullptr;
        });
    kernels.mask = operation_table<Kernels::Mask>(
        []<Operation kOperation>(OperationTag<kOperation>) -> Kernels::Mask {
          if constexpr (spec_of(kOperation).shape == ShapeRule::kMask) {
            return &strict_mask<kOperation>;
          }
          return nullptr;
        });
    kernels.copy = &strict_unary<std::identity>;
    kernels.product = &strict_product;
    kernels.legal = &strictly_legal;
    kernels.written = &strictly_written;
    return kernels;
  }();
  return kKernels;
}

template <>
inline constexpr auto kExecute<Tile<test::StrictFloat>> =
    execute_tile_table<test::StrictFloat>(std::make_index_sequence<kNumRows>{});

}  // namespace flashlab::toy::detail
