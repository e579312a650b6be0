#include "toymachine/forms/value_numbers.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/execute.hpp"

namespace flashlab::toy {
namespace detail {
namespace {

/// A value for the effects of the instruction table, which find its operations by its type.
struct Numbered {
  ValueTable* table = nullptr;
  ValueNumber number = kNoValue;

  /// Scalars only.
  template <Operation kOperation, class... More>
  friend Numbered operated(OperationTag<kOperation>, const Numbered& a, const More&... more) {
    constexpr auto kOnScalars = on_scalars(kOperation);
    if constexpr (!kOnScalars) {
      return a;
    } else if constexpr (spec_of(kOperation).shape == ShapeRule::kMask) {
      const float seen = operated(OperationTag<kOperation>(), 0.0F, more...);
      return seen == 0 && !is_place(kOperation) ? a : Numbered{a.table, a.table->constant(seen)};
    } else {
      return {a.table, a.table->operation(*kOnScalars, a.number, more.number...)};
    }
  }
};

}  // namespace

template <>
struct ValueTraits<Numbered> {
  using Cell = Numbered;
  struct Access {};
  static bool is_written(const Numbered& value) { return value.number != kNoValue; }
  static bool is_legal(const Numbered&) { return true; }
};

}  // namespace detail

ValueNumber ValueTable::number(Made by, std::vector<std::uint32_t> parts) {
  const auto next = static_cast<ValueNumber>(entries_.size());
  const auto [at, is_new] = numbers_.try_emplace({by, parts}, next);
  if (is_new) entries_.push_back({by, std::move(parts)});
  return at->second;
}

ValueNumber ValueTable::input(const std::string& array, std::int64_t element) {
  const auto next = static_cast<std::uint32_t>(arrays_.size());
  const std::uint32_t name = arrays_.try_emplace(array, next).first->second;
  return number({Kind::kInput, {}}, {name, static_cast<std::uint32_t>(element)});
}

ValueNumber ValueTable::constant(float value) {
  return number({Kind::kConstant, {}}, {std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value)});
}

std::optional<float> ValueTable::constant_of(ValueNumber value) const {
  const Entry& entry = entries_[value];
  if (entry.by.first != Kind::kConstant || entry.parts.empty()) return std::nullopt;
  return std::bit_cast<float>(entry.parts[0]);
}

/// Handles an operation that leaves an operand unchanged, or whose operands are all known.
std::optional<ValueNumber> ValueTable::folded(Operation operation, ValueNumber a, ValueNumber b,
                                              ValueNumber c) {
  if (operation == Operation::kSelected) {
    const auto condition = constant_of(a);
    if (condition) return *condition != 0 ? b : c;
    return b == c ? std::optional(b) : std::nullopt;
  }
  const auto left = constant_of(a), right = constant_of(b);
  const bool unary = b == kNoValue;
  if (left && (unary || right)) {
    const float value = detail::value_of(operation, *left, right.value_or(0));
    // A result that is an error is not folded.
    if (value < std::numeric_limits<float>::infinity()) return constant(value);
    return std::nullopt;
  }
  const auto leaves = [&](const std::optional<float>& operand, float neutral) {
    return operand && *operand == neutral;
  };
  const bool sum = operation == Operation::kPlus, product = operation == Operation::kTimes;
  const bool difference = operation == Operation::kMinus, quotient = operation == Operation::kOver;
  if ((sum && leaves(left, 0)) || (product && leaves(left, 1))) return b;
  if ((sum || difference) && leaves(right, 0)) return a;
  if ((product || quotient) && leaves(right, 1)) return a;
  // Absorbs the other operand, whatever it is, unless the result is an error.
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  if ((sum || difference) && leaves(left, kLeast)) return a;
  if ((product || quotient) && leaves(left, 0) && !unary) return a;
  if ((sum && leaves(right, kLeast)) || (product && leaves(right, 0))) return b;
  return std::nullopt;
}

/// Returns the number of a maximum or minimum by the set of its arguments; without -inf if it gives
/// way to all others.
ValueNumber ValueTable::set(Operation operation, ValueNumber a, ValueNumber b) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  const bool gives_way = detail::value_of(operation, kLeast, 0.0F) == 0;
  std::vector<std::uint32_t> parts;
  for (const ValueNumber value : {a, b}) {
    const Entry& entry = entries_[value];
    if (entry.by == Made{Kind::kOperation, operation}) {
      parts.insert(parts.end(), entry.parts.begin(), entry.parts.end());
    } else if (!gives_way || constant_of(value) != kLeast) {
      parts.push_back(value);
    }
  }
  if (parts.empty()) return a;
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts.size() == 1 ? parts[0] : number({Kind::kOperation, operation}, std::move(parts));
}

ValueNumber ValueTable::operation(Operation operation, ValueNumber a, ValueNumber b,
                                  ValueNumber c) {
  const Grouping grouping = spec_of(operation).grouping;
  if (grouping == Grouping::kSet) return set(operation, a, b);
  if (const auto known = folded(operation, a, b, c)) return *known;
  if (b == kNoValue) return number({Kind::kOperation, operation}, {a});
  if (c != kNoValue) return number({Kind::kOperation, operation}, {a, b, c});
  if (grouping != Grouping::kFixed && b < a) std::swap(a, b);
  return number({Kind::kOperation, operation}, {a, b});
}

std::optional<NumberedRun> run_numbers(const BoundProgram& program, const UnrolledProgram& unrolled,
                                       ValueTable& table) {
  using detail::Numbered;
  std::vector<Numbered> dram(static_cast<std::size_t>(unrolled.dram_elements), Numbered{&table});
  for (const BoundArray& array : program.arrays) {
    if (array.role != ArrayRole::kInput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      dram[static_cast<std::size_t>(array.offset + i)].number = table.input(array.name, i);
    }
  }
  std::vector<Numbered> registers(static_cast<std::size_t>(unrolled.num_registers),
                                  Numbered{&table});
  for (const double value : unrolled.constants) {
    registers.push_back({&table, table.constant(static_cast<float>(value))});
  }
  NumberedRun run;
  run.results.reserve(unrolled.steps.size());
  for (const UnrolledStep& step : unrolled.steps) {
    check_budget(4);
    detail::Slots<Numbered> slots;
    std::copy(step.slots.begin(), step.slots.end(), slots.at.begin());
    const auto execute = detail::kExecute<Numbered>[step.row];
    if (execute(slots, registers.data(), dram.data()) != detail::Status::kOk) return std::nullopt;
    const InstructionSpec& spec = instruction_set()[step.row];
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      const auto at = static_cast<std::size_t>(step.slots[i]);
      if (spec.operands[i] == OperandKind::kDestination)
        run.results.push_back(registers[at].number);
      if (is_memory_write(spec.operands[i])) run.results.push_back(dram[at].number);
    }
  }
  for (const Numbered& cell : dram) run.dram.push_back(cell.number);
  return run;
}

}  // namespace flashlab::toy
