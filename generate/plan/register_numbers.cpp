#include "generate/plan/register_numbers.hpp"

#include <algorithm>

#include "toymachine/bind/ranges.hpp"
#include "toymachine/bind/wrapping.hpp"

namespace flashlab::generate {

RegisterNumbers::RegisterNumbers(const toy::BoundProgram& program)
    : program_(program),
      selects_(program.loops.size(), 0),
      known_(program.loops.size(), 0),
      values_(program.loops.size(), 0) {
  for (const toy::BoundInstruction& instruction : program.instructions) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (!toy::is_register(operand.kind)) continue;
      for (const auto& [loop, coefficient] : operand.index.terms) selects_[loop] = 1;
    }
  }
}

toy::Interval RegisterNumbers::of(const toy::BoundOperand& operand) const {
  const toy::Interval allowed = program_.allowed_registers(operand.register_name);
  toy::Affine rest{operand.index.constant, {}};  // the part that is not known
  for (const auto& [loop, coefficient] : operand.index.terms) {
    if (known_[loop]) {
      rest.constant = toy::detail::wrapped_sum(
          rest.constant, toy::detail::wrapped_product(coefficient, values_[loop]));
    } else {
      rest.terms.emplace_back(loop, coefficient);
    }
  }
  const auto range = toy::detail::Ranges(program_.loops).of(rest);
  if (!range) return allowed;
  return {std::max(range->low, allowed.low), std::min(range->high, allowed.high)};
}

std::optional<RegisterNumbers::Iterations> RegisterNumbers::iterations(std::uint32_t loop) const {
  const toy::BoundLoop& range = program_.loops[loop];
  if (!selects_[loop] || !is_known(range.lower) || !is_known(range.upper)) return std::nullopt;
  const std::int64_t first = range.lower(values_.data()), end = range.upper(values_.data());
  const std::int64_t count = first < end ? (end - first - 1) / range.step + 1 : 0;
  if (count > std::max<std::int64_t>(program_.num_registers, 1)) return std::nullopt;
  return Iterations{first, count, range.step};
}

void RegisterNumbers::enter(std::uint32_t loop, std::int64_t value) {
  known_[loop] = 1;
  values_[loop] = value;
}

bool RegisterNumbers::is_known(const toy::Affine& affine) const {
  return std::all_of(affine.terms.begin(), affine.terms.end(),
                     [&](const auto& term) { return known_[term.first] != 0; });
}

bool RegisterNumbers::is_known(const toy::BoundExpression& bound) const {
  if (bound.op == toy::BoundExpression::Op::kAffine) return is_known(bound.affine);
  return std::all_of(bound.args.begin(), bound.args.end(),
                     [&](const toy::BoundExpression& arg) { return is_known(arg); });
}

}  // namespace flashlab::generate
