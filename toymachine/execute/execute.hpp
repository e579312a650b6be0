// Executes one instruction on values: one function for each row of the table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "toymachine/language/instruction_table.hpp"
#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {

enum class Status : std::uint8_t {
  kOk,
  kUnwritten,
  kIllegal,
  kMisfit,
  kLink,   // a message, which the interpreter takes to or from a link
  kWaits,  // for another machine; nothing was executed
};

/// Operands by position: a register number, the first DRAM element of a cell, or a whole number.
template <class Value>
struct Slots : ValueTraits<Value>::Access {
  std::array<std::int64_t, kMaxOperands> at{};
};

template <class Value>
using Execute = Status (*)(Slots<Value>& slots, Value* registers,
                           typename ValueTraits<Value>::Cell* dram);

/// Positions of the operands that are read, and of the operand that is written.
template <std::size_t Row>
struct RowLayout {
  static constexpr const InstructionSpec& spec = std::get<Row>(kInstructionRows).spec;
  static constexpr bool reads(std::size_t i) { return is_read(spec.operands[i]); }
  static constexpr std::size_t count_reads() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < spec.num_operands; ++i) count += reads(i) ? 1U : 0U;
    return count;
  }
  static constexpr std::size_t kNumReads = count_reads();
  static constexpr std::array<std::size_t, kMaxOperands> positions() {
    std::array<std::size_t, kMaxOperands> result{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      if (reads(i)) result[count++] = i;
    }
    return result;
  }
  static constexpr std::array<std::size_t, kMaxOperands> kReads = positions();
  static constexpr std::size_t written() {
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      if (spec.operands[i] == OperandKind::kDestination || is_memory_write(spec.operands[i])) {
        return i;
      }
    }
    return 0;
  }
  static constexpr std::size_t kWritten = written();
};

/// The operand itself: a register, a cell, or a whole number.
template <std::size_t Row, std::size_t Position, class Value>
decltype(auto) operand(const std::int64_t* slots, Value* registers, Value* dram) {
  constexpr OperandKind kKind = RowLayout<Row>::spec.operands[Position];
  if constexpr (kKind == OperandKind::kOffset) {
    return slots[Position];
  } else if constexpr (is_memory(kKind)) {
    return (dram[slots[Position]]);
  } else {
    return (registers[slots[Position]]);
  }
}

template <class Value, class Operand>
bool is_written(const Operand& operand) {
  if constexpr (std::is_same_v<Operand, Value>) return ValueTraits<Value>::is_written(operand);
  return true;  // a whole number
}

template <class Value, std::size_t Row, std::size_t... I>
Status execute_row(const std::int64_t* slots, Value* registers, Value* dram,
                   std::index_sequence<I...>) {
  using Layout = RowLayout<Row>;
  using Traits = ValueTraits<Value>;
  if (!(is_written<Value>(operand<Row, Layout::kReads[I]>(slots, registers, dram)) && ...)) {
    return Status::kUnwritten;
  }
  Value& target = operand<Row, Layout::kWritten>(slots, registers, dram);
  target = std::get<Row>(kInstructionRows)
               .effect(operand<Row, Layout::kReads[I]>(slots, registers, dram)...);
  return Traits::is_legal(target) ? Status::kOk : Status::kIllegal;
}

template <class Value, std::size_t Row>
Status execute_row(Slots<Value>& slots, Value* registers, Value* dram) {
  if constexpr (RowLayout<Row>::spec.is_link()) return Status::kLink;
  return execute_row<Value, Row>(slots.at.data(), registers, dram,
                                 std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <class Value, std::size_t... Row>
constexpr std::array<Execute<Value>, kNumRows> execute_table(std::index_sequence<Row...>) {
  return {&execute_row<Value, Row>...};
}

/// By row of the instruction table.
template <class Value>
inline constexpr auto kExecute = execute_table<Value>(std::make_index_sequence<kNumRows>{});

}  // namespace flashlab::toy::detail
