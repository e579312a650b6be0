#include "toymachine/execute/effect_tree.hpp"

#include <array>
#include <cstdint>
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

EffectTree operand_tree(std::size_t position) { return {std::nullopt, position, {}}; }

const EffectTree& tree_of(const RecordedValue& value) { return value.tree; }
/// An offset, which effects take as a number, stands for itself: its value is its position.
EffectTree tree_of(std::int64_t position) {
  return operand_tree(static_cast<std::size_t>(position));
}

template <Operation kOperation, class... More>
RecordedValue operated(OperationTag<kOperation>, const RecordedValue& a, const More&... more) {
  return {{kOperation, 0, {a.tree, tree_of(more)...}}};
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
