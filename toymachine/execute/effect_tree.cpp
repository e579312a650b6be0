#include "toymachine/execute/effect_tree.hpp"

#include <array>
#include <tuple>
#include <utility>

#include "toymachine/execute/execute.hpp"
#include "toymachine/language/instruction_table.hpp"

namespace flashlab::toy {
namespace detail {

/// A value whose operations record themselves.
struct RecordedValue {
  EffectTree tree;
};

inline RecordedValue recorded(Operation operation, std::vector<EffectTree> arguments) {
  return {{operation, 0, std::move(arguments)}};
}
inline EffectTree operand_tree(std::size_t position) { return {Operation::kOperand, position, {}}; }

RecordedValue operator+(const RecordedValue& a, const RecordedValue& b) {
  return recorded(Operation::kPlus, {a.tree, b.tree});
}
RecordedValue operator-(const RecordedValue& a, const RecordedValue& b) {
  return recorded(Operation::kMinus, {a.tree, b.tree});
}
RecordedValue operator*(const RecordedValue& a, const RecordedValue& b) {
  return recorded(Operation::kTimes, {a.tree, b.tree});
}
RecordedValue operator/(const RecordedValue& a, const RecordedValue& b) {
  return recorded(Operation::kOver, {a.tree, b.tree});
}
RecordedValue maximum(const RecordedValue& a, const RecordedValue& b) {
  return recorded(Operation::kMaximum, {a.tree, b.tree});
}
RecordedValue exponential(const RecordedValue& a) {
  return recorded(Operation::kExponential, {a.tree});
}
RecordedValue logarithm(const RecordedValue& a) {
  return recorded(Operation::kLogarithm, {a.tree});
}
RecordedValue product(const RecordedValue& a, const RecordedValue& b) {
  return recorded(Operation::kProduct, {a.tree, b.tree});
}
RecordedValue row_maximum(const RecordedValue& a) {
  return recorded(Operation::kRowMaximum, {a.tree});
}
RecordedValue row_sum(const RecordedValue& a) { return recorded(Operation::kRowSum, {a.tree}); }

/// An offset, which effects take as a number, stands for itself: its value is its position.
RecordedValue masked(const RecordedValue& a, std::int64_t row, std::int64_t column) {
  return recorded(Operation::kMasked, {a.tree, operand_tree(static_cast<std::size_t>(row)),
                                       operand_tree(static_cast<std::size_t>(column))});
}
RecordedValue masked_left(const RecordedValue& a, std::int64_t row, std::int64_t column) {
  return recorded(Operation::kMaskedLeft, {a.tree, operand_tree(static_cast<std::size_t>(row)),
                                           operand_tree(static_cast<std::size_t>(column))});
}

}  // namespace detail

namespace {

using detail::RecordedValue;

template <std::size_t kRow, std::size_t kPosition>
auto recorded_operand() {
  if constexpr (detail::RowLayout<kRow>::spec.operands[kPosition] == OperandKind::kOffset) {
    return static_cast<std::int64_t>(kPosition);
  } else {
    return RecordedValue{detail::operand_tree(kPosition)};
  }
}

template <std::size_t kRow, std::size_t... kRead>
EffectTree recorded_effect(std::index_sequence<kRead...>) {
  using Layout = detail::RowLayout<kRow>;
  const RecordedValue result = std::get<kRow>(detail::kInstructionRows)
                                   .effect(recorded_operand<kRow, Layout::kReads[kRead]>()...);
  return result.tree;
}

template <std::size_t kRow>
EffectTree recorded_row() {
  return recorded_effect<kRow>(std::make_index_sequence<detail::RowLayout<kRow>::kNumReads>{});
}

}  // namespace

EffectTree effect_tree(std::size_t row) {
  using Record = EffectTree (*)();
  static constexpr auto kRecords = []<std::size_t... kRows>(std::index_sequence<kRows...>) {
    return std::array<Record, sizeof...(kRows)>{recorded_row<kRows>...};
  }
  (std::make_index_sequence<detail::kNumRows>());
  return kRecords[row]();
}

}  // namespace flashlab::toy
