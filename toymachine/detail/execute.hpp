// One instruction on values: a function for each row of the table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "toymachine/detail/instruction_rows.hpp"
#include "toymachine/detail/values.hpp"

namespace flashlab::toy::detail {

enum class Status : std::uint8_t { kOk, kUnwritten, kIllegal };

/// Operands by position: a register number, or a cell of the DRAM.
template <class Value>
using Execute = Status (*)(const std::int64_t* slots, Value* registers, Value* dram);

/// Positions of the operands that are read, and of the one that is written.
template <std::size_t Row>
struct RowShape {
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
      if (!reads(i)) return i;
    }
    return 0;
  }
  static constexpr std::size_t kWritten = written();
};

template <class Value, std::size_t Row, std::size_t... I>
Status execute_row(const std::int64_t* slots, Value* registers, Value* dram,
                   std::index_sequence<I...>) {
  using Shape = RowShape<Row>;
  using Traits = ValueTraits<Value>;
  const auto cell = [&](std::size_t position) -> Value& {
    return is_memory(Shape::spec.operands[position]) ? dram[slots[position]]
                                                     : registers[slots[position]];
  };
  if (!(Traits::is_written(cell(Shape::kReads[I])) && ...)) return Status::kUnwritten;
  Value& target = cell(Shape::kWritten);
  target = std::get<Row>(kInstructionRows).effect(cell(Shape::kReads[I])...);
  return Traits::is_legal(target) ? Status::kOk : Status::kIllegal;
}

template <class Value, std::size_t Row>
Status execute_row(const std::int64_t* slots, Value* registers, Value* dram) {
  return execute_row<Value, Row>(slots, registers, dram,
                                 std::make_index_sequence<RowShape<Row>::kNumReads>{});
}

template <class Value, std::size_t... Row>
constexpr std::array<Execute<Value>, kNumRows> execute_table(std::index_sequence<Row...>) {
  return {&execute_row<Value, Row>...};
}

/// By row of the instruction table.
template <class Value>
inline constexpr auto kExecute = execute_table<Value>(std::make_index_sequence<kNumRows>{});

}  // namespace flashlab::toy::detail
