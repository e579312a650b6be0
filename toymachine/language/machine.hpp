// The machine a program runs on: registers, operand rule, what an instruction costs, limits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Cycles of each instruction, indexed by its row: cycles per execution, and cycles per unit of its
/// work. Starts from the table's own column, which costs executions only.
class CostTable {
 public:
  CostTable();
  std::int64_t cycles(std::size_t row) const { return cycles_[row]; }
  std::int64_t per_work(std::size_t row) const { return per_work_[row]; }
  void set(std::size_t row, std::int64_t cycles) { cycles_[row] = cycles; }
  /// Reads "LOAD=100+2/element,MAC=1/flop,EXP=4" over the present values. Errors: unknown mnemonic,
  /// not a whole number of cycles from 0 to 10^9, a mnemonic given twice, a unit that the
  /// instruction's work is not counted in.
  Result<bool> parse(std::string_view text);

 private:
  Result<bool> parse_entry(std::string_view entry, std::vector<bool>& given);

  std::vector<std::int64_t> cycles_, per_work_;
};

/// Everything that stops a program because it asks for too much. Each has a flag of the same name.
struct Limits {
  std::int64_t max_source_bytes = 1 << 20;
  std::int64_t max_nesting = 64;
  std::int64_t max_steps = 10'000'000'000;
  std::int64_t max_array_bytes = std::int64_t{4} << 30;
  std::int64_t max_trace_rows = 10'000;
  std::int64_t max_registers = 1 << 16;
};

/// What the caller decides about one run of a program.
struct Binding {
  std::map<std::string, std::int64_t> params;  // over the program's defaults
  std::optional<std::int64_t> registers;       // over the program's .registers
  std::optional<OperandRule> operand_rule;     // over the program's .operands
  Limits limits;
};

}  // namespace flashlab::toy
