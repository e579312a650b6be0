#include "toymachine/forms/value_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/execute.hpp"

namespace flashlab::toy {
namespace detail {
namespace {

/// A value for the effects of the instruction table, which find its operations by its type.
struct Numbered {
  using Op = ValueTable::Op;

  ValueTable* table = nullptr;
  ValueNumber number = kNoValue;

  Numbered made(Op op, ValueNumber other = kNoValue) const {
    return {table, table->operation(op, number, other)};
  }

  friend Numbered operator+(const Numbered& a, const Numbered& b) {
    return a.made(Op::kSum, b.number);
  }
  friend Numbered operator-(const Numbered& a, const Numbered& b) {
    return a.made(Op::kDifference, b.number);
  }
  friend Numbered operator*(const Numbered& a, const Numbered& b) {
    return a.made(Op::kProduct, b.number);
  }
  friend Numbered operator/(const Numbered& a, const Numbered& b) {
    return a.made(Op::kQuotient, b.number);
  }
  friend Numbered maximum(const Numbered& a, const Numbered& b) {
    return a.made(Op::kMaximum, b.number);
  }
  friend Numbered exponential(const Numbered& a) { return a.made(Op::kExponential); }
  friend Numbered logarithm(const Numbered& a) { return a.made(Op::kLogarithm); }
  // Scalars only.
  friend Numbered product(const Numbered& a, const Numbered& b) { return a * b; }
  friend Numbered row_maximum(const Numbered& a) { return a; }
  friend Numbered row_sum(const Numbered& a) { return a; }
  friend Numbered masked(const Numbered& a, std::int64_t row, std::int64_t column) {
    if (column <= row) return a;
    return {a.table, a.table->constant(-std::numeric_limits<float>::infinity())};
  }
  friend Numbered masked_left(const Numbered& a, std::int64_t row, std::int64_t column) {
    if (column >= row) return a;
    return {a.table, a.table->constant(-std::numeric_limits<float>::infinity())};
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

namespace {

float computed(ValueTable::Op op, float a, float b) {
  switch (op) {
    case ValueTable::Op::kSum:
      return a + b;
    case ValueTable::Op::kDifference:
      return a - b;
    case ValueTable::Op::kProduct:
      return a * b;
    case ValueTable::Op::kQuotient:
      return a / b;
    case ValueTable::Op::kExponential:
      return detail::exponential(a);
    case ValueTable::Op::kLogarithm:
      return std::log(a);
    default:
      return std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

ValueNumber ValueTable::number(Op op, std::vector<std::uint32_t> parts) {
  const auto next = static_cast<ValueNumber>(entries_.size());
  const auto [at, is_new] = numbers_.try_emplace({op, parts}, next);
  if (is_new) entries_.push_back({op, std::move(parts)});
  return at->second;
}

ValueNumber ValueTable::input(const std::string& array, std::int64_t element) {
  const auto next = static_cast<std::uint32_t>(arrays_.size());
  const std::uint32_t name = arrays_.try_emplace(array, next).first->second;
  return number(Op::kInput, {name, static_cast<std::uint32_t>(element)});
}

ValueNumber ValueTable::constant(float value) {
  return number(Op::kConstant, {std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value)});
}

std::optional<float> ValueTable::constant_of(ValueNumber value) const {
  const Entry& entry = entries_[value];
  if (entry.op != Op::kConstant || entry.parts.empty()) return std::nullopt;
  return std::bit_cast<float>(entry.parts[0]);
}

/// Handles an operation that leaves an operand unchanged, or whose operands are all known.
std::optional<ValueNumber> ValueTable::folded(Op op, ValueNumber a, ValueNumber b) {
  const auto left = constant_of(a), right = constant_of(b);
  const bool unary = b == kNoValue;
  if (left && (unary || right)) {
    const float value = computed(op, *left, right.value_or(0));
    // A result that is an error is not folded.
    if (value < std::numeric_limits<float>::infinity()) return constant(value);
    return std::nullopt;
  }
  const auto leaves = [&](const std::optional<float>& operand, float neutral) {
    return operand && *operand == neutral;
  };
  const bool sum = op == Op::kSum, product = op == Op::kProduct;
  if ((sum && leaves(left, 0)) || (product && leaves(left, 1))) return b;
  if ((sum || op == Op::kDifference) && leaves(right, 0)) return a;
  if ((product || op == Op::kQuotient) && leaves(right, 1)) return a;
  // Absorbs the other operand, whatever it is, unless the result is an error.
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  if ((sum || op == Op::kDifference) && leaves(left, kLeast)) return a;
  if ((product || op == Op::kQuotient) && leaves(left, 0) && !unary) return a;
  if ((sum && leaves(right, kLeast)) || (product && leaves(right, 0))) return b;
  return std::nullopt;
}

/// The set of a maximum's arguments, without -inf.
ValueNumber ValueTable::maximum(ValueNumber a, ValueNumber b) {
  std::vector<std::uint32_t> parts;
  for (const ValueNumber value : {a, b}) {
    const Entry& entry = entries_[value];
    if (entry.op == Op::kMaximum) {
      parts.insert(parts.end(), entry.parts.begin(), entry.parts.end());
    } else if (constant_of(value) != -std::numeric_limits<float>::infinity()) {
      parts.push_back(value);
    }
  }
  if (parts.empty()) return a;
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts.size() == 1 ? parts[0] : number(Op::kMaximum, std::move(parts));
}

ValueNumber ValueTable::operation(Op op, ValueNumber a, ValueNumber b) {
  if (op == Op::kMaximum) return maximum(a, b);
  if (const auto known = folded(op, a, b)) return *known;
  if (b == kNoValue) return number(op, {a});
  if ((op == Op::kSum || op == Op::kProduct) && b < a) std::swap(a, b);
  return number(op, {a, b});
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
