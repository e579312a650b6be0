#include "toymachine/execute/call_instruction.hpp"

#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "toymachine/execute/execute.hpp"

namespace flashlab::toy {
namespace {

template <std::size_t kRow>
double effect_of_row(std::span<const double> operands) {
  constexpr const auto& row = std::get<kRow>(detail::kInstructionRows);
  constexpr bool on_numbers = [](const InstructionSpec& spec) {
    for (const OperandKind kind : spec.kinds()) {
      if (kind == OperandKind::kOffset) return false;
    }
    return true;
  }(row.spec);
  constexpr std::size_t reads = detail::RowLayout<kRow>::kNumReads;
  if constexpr (!on_numbers) {
    throw std::logic_error("an instruction that takes more than numbers");
  } else if constexpr (reads == 1) {
    return row.effect(operands[0]);
  } else if constexpr (reads == 2) {
    return row.effect(operands[0], operands[1]);
  } else {
    return row.effect(operands[0], operands[1], operands[2]);
  }
}

}  // namespace

double effect_on_numbers(std::size_t row, std::span<const double> operands) {
  using Effect = double (*)(std::span<const double>);
  static constexpr auto kEffects = []<std::size_t... kRows>(std::index_sequence<kRows...>) {
    return std::array<Effect, sizeof...(kRows)>{effect_of_row<kRows>...};
  }
  (std::make_index_sequence<detail::kNumRows>());
  return kEffects[row](operands);
}

}  // namespace flashlab::toy
