#include "toymachine/bind/operands.hpp"

#include <algorithm>
#include <limits>

#include "toymachine/bind/affine_builder.hpp"
#include "toymachine/bind/ranges.hpp"

namespace flashlab::toy::detail {
namespace {

class OperandBinder : BindingStep {
 public:
  using BindingStep::BindingStep;

  std::optional<BoundOperand> bind(const Operand& operand) {
    BoundOperand result;
    result.kind = operand.kind;
    result.transposed = operand.transposed;
    result.span = operand.span;
    if (operand.kind == OperandKind::kConstant) return bind_constant(operand, result);
    if (operand.kind == OperandKind::kOffset || is_machine(operand.kind)) {
      return bind_offset(operand, result);
    }
    if (!is_memory(operand.kind)) {
      auto index = to_affine(*operand.register_index, values_, diagnostics_);
      if (!index) return std::nullopt;
      result.index = std::move(*index);
      result.register_name = static_cast<std::uint32_t>(operand.register_name);
      return in_range(result) ? std::optional(std::move(result)) : std::nullopt;
    }
    result.array = static_cast<std::uint32_t>(operand.array);
    const BoundArray& array = bound_.arrays[operand.array];
    std::optional<Affine> element = Affine{array.offset, {}};
    std::int64_t stride = 1;
    for (std::size_t axis = operand.indices.size(); axis-- > 0;) {
      auto index = to_affine(*operand.indices[axis], values_, diagnostics_);
      if (!index) return std::nullopt;
      if (element) element = add_axis(*element, *index, array.tile[axis], stride);
      result.axes.insert(result.axes.begin(), std::move(*index));
      stride *= std::max<std::int64_t>(1, array.extents[axis]);
    }
    if (!element) {
      overflow(operand.span);
      return std::nullopt;
    }
    result.index = std::move(*element);
    return in_range(result) ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  static std::optional<Affine> add_axis(const Affine& element, const Affine& index,
                                        std::int64_t tile, std::int64_t stride) {
    const Int128 factor = Int128{tile} * stride;
    if (factor > kLargestIndex) return std::nullopt;
    return add(element, index, static_cast<std::int64_t>(factor));
  }

  std::optional<BoundOperand> bind_offset(const Operand& operand, BoundOperand result) {
    auto index = to_affine(*operand.value, values_, diagnostics_);
    if (!index) return std::nullopt;
    result.index = std::move(*index);
    result.constant = operand.value;
    result.proven_in_range = true;
    return in_range(result) ? std::optional(std::move(result)) : std::nullopt;
  }

  std::optional<BoundOperand> bind_constant(const Operand& operand, BoundOperand result) {
    const Expression& expression = *operand.value;
    const auto number = evaluate(expression, values_, diagnostics_);
    if (!number) return std::nullopt;
    const double value = std::visit([](auto v) { return static_cast<double>(v); }, *number);
    if (!(value < std::numeric_limits<double>::infinity())) {
      error(expression.span, "the constant is +inf or not a number", "a number, or -inf");
      return std::nullopt;
    }
    result.index.constant = static_cast<std::int64_t>(bound_.constants.size());
    result.proven_in_range = true;
    result.constant = operand.value;
    bound_.constants.push_back(value);
    return result;
  }

  void overflow(const SourceSpan& span) {
    error(span, "index arithmetic overflows 61 bits", "values below 2^61");
  }

  /// Whether all indices of the operand stay within 61 bits, so that 64-bit arithmetic is exact.
  bool in_range(const BoundOperand& operand) {
    const Ranges ranges(bound_.loops);
    bool fits = ranges.of(operand.index).has_value();
    for (const Affine& axis : operand.axes) fits &= ranges.of(axis).has_value();
    if (!fits) overflow(operand.span);
    return fits;
  }
};

class OperandChecker : BindingStep {
 public:
  using BindingStep::BindingStep;

  /// Without a .registers line, the machine has as many registers as the program names.
  void count_registers() {
    if (bound_.registers_declared) return;
    const Ranges ranges(bound_.loops);
    std::int64_t most = 1;
    for (const BoundInstruction& instruction : bound_.instructions) {
      for (const BoundOperand& operand : instruction.operands) {
        if (is_register(operand.kind) && (operand.index.is_constant() || reached(instruction))) {
          most = std::max(most, ranges.of(operand.index)->high + 1);
        }
      }
    }
    if (most > binding_.limits.max_registers) {
      error({}, "the program names register R" + std::to_string(most - 1),
            "at most " + std::to_string(binding_.limits.max_registers) +
                " registers (--max-registers)",
            Fault::kLimit);
      most = 1;
    }
    bound_.num_registers = most;
  }

  void name_registers() {
    for (const NamedRegisters& named : bound_.named_registers) {
      const std::int64_t end = std::min(named.first + named.count, bound_.num_registers);
      for (std::int64_t number = named.first; number < end; ++number) {
        bound_.register_names.resize(static_cast<std::size_t>(number) + 1);
        bound_.register_names.back() = named.text(number - named.first);
      }
    }
  }

  void check() {
    const OperandRule rule = binding_.operand_rule.value_or(program_.operand_rule);
    for (BoundInstruction& instruction : bound_.instructions) {
      std::int64_t factor = 0;
      for (BoundOperand& operand : instruction.operands) {
        if (operand.kind == OperandKind::kConstant) {
          check_constant(instruction, operand);
          operand.index.constant += bound_.num_registers;
        } else if (is_memory(operand.kind)) {
          check_cell(instruction, operand);
        } else if (is_register(operand.kind)) {
          check_register(instruction, operand);
          if (operand.kind != OperandKind::kFactor) continue;
          if (rule == OperandRule::kPinned) check_pinned(operand, factor);
          ++factor;
        } else if (is_machine(operand.kind) && certain(instruction)) {
          check_machine(operand);
        }
      }
    }
  }

 private:
  bool reached(const BoundInstruction& instruction) const {
    return instruction.loop == kNoLoop || !bound_.loops[instruction.loop].values.empty();
  }

  bool certain(const BoundInstruction& instruction) const {
    for (std::uint32_t l = instruction.loop; l != kNoLoop; l = bound_.loops[l].parent) {
      if (bound_.loops[l].trips.low < 1) return false;
    }
    return true;
  }

  void check_pinned(const BoundOperand& operand, std::int64_t factor) {
    if (operand.index.is_constant() && operand.index.constant == factor) return;
    error(operand.span,
          "factor " + std::to_string(factor + 1) + " is not R" + std::to_string(factor),
          "R" + std::to_string(factor) + ": operands are pinned");
  }

  /// A machine with a rule of its own, as an exercise has, decides whether constants are operands.
  void check_constant(const BoundInstruction& instruction, const BoundOperand& operand) {
    const bool refused =
        program_.operand_rule == OperandRule::kConstants &&
        binding_.operand_rule.value_or(OperandRule::kConstants) != OperandRule::kConstants;
    if (!refused || !instruction_set()[instruction.row].takes_constants()) return;
    error(operand.span, "an operand is a constant", "a register: here all operands are registers");
  }

  void check_machine(const BoundOperand& operand) {
    if (!operand.index.is_constant()) return;
    const MachineNumber& own = *bound_.machine;
    const std::int64_t number = operand.index.constant;
    if (!own.has_link_to(number)) error(operand.span, own.no_link_text(number), own.links_text());
  }

  void check_register(const BoundInstruction& instruction, BoundOperand& operand) {
    const Interval range = *Ranges(bound_.loops).of(operand.index);
    const Interval allowed = bound_.allowed_registers(operand.register_name);
    operand.proven_in_range = range.low >= allowed.low && range.high <= allowed.high;
    const bool wrong =
        operand.index.is_constant() ||
        (certain(instruction) && (range.high < allowed.low || range.low > allowed.high));
    if (operand.proven_in_range || !wrong) return;
    error(operand.span, bound_.missing_register(range.low, operand.register_name),
          bound_.existing_registers(operand.register_name));
  }

  void check_cell(const BoundInstruction& instruction, BoundOperand& operand) {
    const BoundArray& array = bound_.arrays[operand.array];
    operand.proven_in_range = true;
    for (std::size_t axis = 0; axis < operand.axes.size(); ++axis) {
      const Interval range = *Ranges(bound_.loops).of(operand.axes[axis]);
      if (range.low >= 0 && range.high < array.counts[axis]) continue;
      operand.proven_in_range = false;
      const bool never_right = range.high < 0 || range.low >= array.counts[axis];
      if (!certain(instruction) || !never_right) continue;
      const std::int64_t extent = array.counts[axis];
      error(operand.span,
            "index " + std::to_string(range.low) + " of axis " + std::to_string(axis) + " of '" +
                array.name + "' is out of range",
            extent == 0 ? "no access: this axis has size 0" : "0 to " + std::to_string(extent - 1));
      return;
    }
  }
};

}  // namespace

std::optional<BoundOperand> bind_operand(BindingState& state, const Operand& operand) {
  return OperandBinder(state).bind(operand);
}

void check_operands(BindingState& state) {
  OperandChecker checker(state);
  checker.count_registers();
  checker.name_registers();
  checker.check();
}

}  // namespace flashlab::toy::detail
