// The operations that instructions are composed of: `product(a, b) + c`, `exponential(a)`.
//
// This list is the vocabulary of everybody who handles effects. A type of values (numbers, tiles,
// shapes, symbols, forms, value numbers, effect trees) has one function for all operations,
//
//   operated(OperationTag<Operation::kMaximum>(), a, b)
//
// which may ask `spec_of` for the operation's arity and rules. The instruction table writes
// operations as functions and signs, which are at the end of this file and call `operated`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flashlab::toy {

enum class Operation : std::uint8_t {
  kPlus,
  kMinus,
  kTimes,
  kOver,
  kMaximum,
  kMinimum,
  kAbsolute,
  kExponential,
  kLogarithm,
  kTanh,
  kReciprocalRoot,
  kReciprocal,
  kBinaryExponential,
  kBinaryLogarithm,
  kLess,
  kSelected,
  kProduct,
  kRowMaximum,
  kRowSum,
  kMasked,
  kMaskedLeft,
  kRowNumber,
  kColumnNumber,
};

/// From the shapes of the arguments to that of the result.
enum class ShapeRule : std::uint8_t {
  kElementwise,  // element by element; a scalar, a column or a row is repeated
  kProduct,      // of matrices
  kColumn,       // one element for each row
  kMask,         // the shape of the first argument; the others are its first row or column, or both
};

/// The work of an operation or instruction, as a number of operations on scalars.
enum class FlopKind : std::uint8_t {
  kNone,         // no arithmetic: its work is the elements it writes
  kProduct,      // rows x inner x columns of a matrix product
  kElementwise,  // the elements it writes
  kReduction,    // rows x (columns - 1): nothing on a scalar
  kExponential,  // the elements it writes, counted separately from FLOPs
};

/// What may be done with the arguments without another result, but for rounding.
enum class Grouping : std::uint8_t {
  kFixed,      // nothing
  kExchanged,  // two arguments may be exchanged
  kSum,        // and nested ones are one list of terms, in any order
  kSet,        // and a term that is there twice counts once
};

struct OperationSpec {
  Operation operation;
  std::string_view name;      // in formulas: "max" of max(a, b); a sign: "+"
  std::string_view function;  // in effects and in generated code: "maximum" of maximum(a, b)
  std::size_t arity;
  ShapeRule shape;
  FlopKind flop_kind;
  std::int64_t flops;  // per unit of work
  Grouping grouping = Grouping::kFixed;
};

namespace detail {
constexpr OperationSpec elementwise(Operation operation, std::string_view name,
                                    std::string_view function, std::size_t arity, FlopKind kind,
                                    Grouping grouping = Grouping::kFixed) {
  return {operation, name, function, arity, ShapeRule::kElementwise, kind, 1, grouping};
}
}  // namespace detail

// In the order of the enumeration. kExponential is what a GPU's unit for special functions computes.
// clang-format off
inline constexpr std::array kOperations{
    detail::elementwise(Operation::kPlus, "+", "+", 2, FlopKind::kElementwise, Grouping::kSum),
    detail::elementwise(Operation::kMinus, "-", "-", 2, FlopKind::kElementwise),
    detail::elementwise(Operation::kTimes, "*", "*", 2, FlopKind::kElementwise,
                        Grouping::kExchanged),
    detail::elementwise(Operation::kOver, "/", "/", 2, FlopKind::kElementwise),
    detail::elementwise(Operation::kMaximum, "max", "maximum", 2, FlopKind::kElementwise,
                        Grouping::kSet),
    detail::elementwise(Operation::kMinimum, "min", "minimum", 2, FlopKind::kElementwise,
                        Grouping::kSet),
    detail::elementwise(Operation::kAbsolute, "abs", "absolute", 1, FlopKind::kElementwise),
    detail::elementwise(Operation::kExponential, "exp", "exponential", 1, FlopKind::kExponential),
    detail::elementwise(Operation::kLogarithm, "log", "logarithm", 1, FlopKind::kExponential),
    detail::elementwise(Operation::kTanh, "tanh", "hyperbolic_tangent", 1, FlopKind::kExponential),
    detail::elementwise(Operation::kReciprocalRoot, "rsqrt", "reciprocal_root", 1,
                        FlopKind::kExponential),
    detail::elementwise(Operation::kReciprocal, "rcp", "reciprocal", 1, FlopKind::kExponential),
    detail::elementwise(Operation::kBinaryExponential, "exp2", "binary_exponential", 1,
                        FlopKind::kExponential),
    detail::elementwise(Operation::kBinaryLogarithm, "log2", "binary_logarithm", 1,
                        FlopKind::kExponential),
    detail::elementwise(Operation::kLess, "less", "less", 2, FlopKind::kElementwise),
    // Its result is one of its arguments, so it costs as little as a mask.
    OperationSpec{Operation::kSelected, "select", "selected", 3, ShapeRule::kElementwise,
                  FlopKind::kNone, 0},
    // Two FLOPs, because the sum to which a product is added costs nothing more.
    OperationSpec{Operation::kProduct, "*", "product", 2, ShapeRule::kProduct,
                  FlopKind::kProduct, 2},
    OperationSpec{Operation::kRowMaximum, "rowmax", "row_maximum", 1, ShapeRule::kColumn,
                  FlopKind::kReduction, 1},
    OperationSpec{Operation::kRowSum, "rowsum", "row_sum", 1, ShapeRule::kColumn,
                  FlopKind::kReduction, 1},
    // -inf where the column is beyond the row, or before it.
    OperationSpec{Operation::kMasked, "mask", "masked", 3, ShapeRule::kMask, FlopKind::kNone, 0},
    OperationSpec{Operation::kMaskedLeft, "maskleft", "masked_left", 3, ShapeRule::kMask,
                  FlopKind::kNone, 0},
    // Where an element is: numbers, which do not depend on the first argument's elements.
    OperationSpec{Operation::kRowNumber, "row", "row_number", 2, ShapeRule::kMask,
                  FlopKind::kNone, 0},
    OperationSpec{Operation::kColumnNumber, "col", "column_number", 2, ShapeRule::kMask,
                  FlopKind::kNone, 0},
};
// clang-format on

inline constexpr std::size_t kNumOperations = kOperations.size();

constexpr bool operations_are_in_order() {
  for (std::size_t i = 0; i < kNumOperations; ++i) {
    if (kOperations[i].operation != static_cast<Operation>(i)) return false;
  }
  return true;
}
static_assert(operations_are_in_order(), "kOperations is not in the order of the enumeration");

constexpr const OperationSpec& spec_of(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}
constexpr bool is_elementwise(Operation operation) {
  return spec_of(operation).shape == ShapeRule::kElementwise;
}
/// Whether formulas write a sign between two arguments.
constexpr bool is_sign(Operation operation) { return operation <= Operation::kOver; }
/// Whether the result is the number of each element's row or column.
constexpr bool is_place(Operation operation) {
  return operation == Operation::kRowNumber || operation == Operation::kColumnNumber;
}
/// Whether nested ones are one list of terms.
constexpr bool is_list(Operation operation) {
  return spec_of(operation).grouping >= Grouping::kSum;
}

/// Returns what is left of the operation on scalars: of a product, the product of two numbers; of
/// a sum over a row with one element, this element, and nothing is left.
constexpr std::optional<Operation> on_scalars(Operation operation) {
  if (operation == Operation::kProduct) return Operation::kTimes;
  if (spec_of(operation).shape == ShapeRule::kColumn) return std::nullopt;
  return operation;
}

namespace detail {

template <Operation kOperation>
struct OperationTag {};

/// Returns a table by operation, of entry(OperationTag<operation>()).
template <class Entry, class MakeEntry>
constexpr std::array<Entry, kNumOperations> operation_table(MakeEntry entry) {
  return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return std::array<Entry, kNumOperations>{
        entry(OperationTag<static_cast<Operation>(kIndex)>())...};
  }
  (std::make_index_sequence<kNumOperations>());
}

/// Whether values of these types have the operation.
template <Operation kOperation, class... Arguments>
concept Operable = requires(const Arguments&... arguments) {
  operated(OperationTag<kOperation>(), arguments...);
};
/// The same for signs, which numbers have already.
template <Operation kOperation, class A, class B>
concept OperableBySign =
    !(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)&&Operable<kOperation, A, B>;

// The signs and functions that effects are written with.

template <class A, class B>
requires OperableBySign<Operation::kPlus, A, B>
constexpr auto operator+(const A& a, const B& b) {
  return operated(OperationTag<Operation::kPlus>(), a, b);
}
template <class A, class B>
requires OperableBySign<Operation::kMinus, A, B>
constexpr auto operator-(const A& a, const B& b) {
  return operated(OperationTag<Operation::kMinus>(), a, b);
}
template <class A, class B>
requires OperableBySign<Operation::kTimes, A, B>
constexpr auto operator*(const A& a, const B& b) {
  return operated(OperationTag<Operation::kTimes>(), a, b);
}
template <class A, class B>
requires OperableBySign<Operation::kOver, A, B>
constexpr auto operator/(const A& a, const B& b) {
  return operated(OperationTag<Operation::kOver>(), a, b);
}
template <class... A>
requires Operable<Operation::kMaximum, A...>
constexpr auto maximum(const A&... a) {
  return operated(OperationTag<Operation::kMaximum>(), a...);
}
template <class... A>
requires Operable<Operation::kMinimum, A...>
constexpr auto minimum(const A&... a) {
  return operated(OperationTag<Operation::kMinimum>(), a...);
}
template <class... A>
requires Operable<Operation::kAbsolute, A...>
constexpr auto absolute(const A&... a) {
  return operated(OperationTag<Operation::kAbsolute>(), a...);
}
template <class... A>
requires Operable<Operation::kExponential, A...>
constexpr auto exponential(const A&... a) {
  return operated(OperationTag<Operation::kExponential>(), a...);
}
template <class... A>
requires Operable<Operation::kLogarithm, A...>
constexpr auto logarithm(const A&... a) {
  return operated(OperationTag<Operation::kLogarithm>(), a...);
}
template <class... A>
requires Operable<Operation::kTanh, A...>
constexpr auto hyperbolic_tangent(const A&... a) {
  return operated(OperationTag<Operation::kTanh>(), a...);
}
template <class... A>
requires Operable<Operation::kReciprocalRoot, A...>
constexpr auto reciprocal_root(const A&... a) {
  return operated(OperationTag<Operation::kReciprocalRoot>(), a...);
}
template <class... A>
requires Operable<Operation::kReciprocal, A...>
constexpr auto reciprocal(const A&... a) {
  return operated(OperationTag<Operation::kReciprocal>(), a...);
}
template <class... A>
requires Operable<Operation::kBinaryExponential, A...>
constexpr auto binary_exponential(const A&... a) {
  return operated(OperationTag<Operation::kBinaryExponential>(), a...);
}
template <class... A>
requires Operable<Operation::kBinaryLogarithm, A...>
constexpr auto binary_logarithm(const A&... a) {
  return operated(OperationTag<Operation::kBinaryLogarithm>(), a...);
}
template <class... A>
requires Operable<Operation::kLess, A...>
constexpr auto less(const A&... a) { return operated(OperationTag<Operation::kLess>(), a...); }
template <class... A>
requires Operable<Operation::kSelected, A...>
constexpr auto selected(const A&... a) {
  return operated(OperationTag<Operation::kSelected>(), a...);
}
template <class... A>
requires Operable<Operation::kProduct, A...>
constexpr auto product(const A&... a) {
  return operated(OperationTag<Operation::kProduct>(), a...);
}
template <class... A>
requires Operable<Operation::kRowMaximum, A...>
constexpr auto row_maximum(const A&... a) {
  return operated(OperationTag<Operation::kRowMaximum>(), a...);
}
template <class... A>
requires Operable<Operation::kRowSum, A...>
constexpr auto row_sum(const A&... a) { return operated(OperationTag<Operation::kRowSum>(), a...); }
template <class... A>
requires Operable<Operation::kMasked, A...>
constexpr auto masked(const A&... a) { return operated(OperationTag<Operation::kMasked>(), a...); }
template <class... A>
requires Operable<Operation::kMaskedLeft, A...>
constexpr auto masked_left(const A&... a) {
  return operated(OperationTag<Operation::kMaskedLeft>(), a...);
}
template <class... A>
requires Operable<Operation::kRowNumber, A...>
constexpr auto row_number(const A&... a) {
  return operated(OperationTag<Operation::kRowNumber>(), a...);
}
template <class... A>
requires Operable<Operation::kColumnNumber, A...>
constexpr auto column_number(const A&... a) {
  return operated(OperationTag<Operation::kColumnNumber>(), a...);
}

}  // namespace detail
}  // namespace flashlab::toy
