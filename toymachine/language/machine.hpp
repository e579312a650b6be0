// The machine on which a program runs: registers, operand rule, cost of instructions, limits.
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

/// Cycles of each instruction, indexed by its row: cycles per execution, and cycles per unit of
/// work. Initialised from the table's cycles column, which has only costs per execution.
class CostTable {
 public:
  CostTable();
  std::int64_t cycles(std::size_t row) const { return cycles_[row]; }
  std::int64_t per_work(std::size_t row) const { return per_work_[row]; }
  void set(std::size_t row, std::int64_t cycles) { cycles_[row] = cycles; }
  /// Reads "LOAD=100+2/element,MAC=1/flop,EXP=4" over the current values. Errors: an unknown
  /// mnemonic, a number of cycles that is not a whole number from 0 to 10^9, a mnemonic given
  /// twice, a unit other than that of the instruction's work.
  Result<bool> parse(std::string_view text);

 private:
  Result<bool> parse_entry(std::string_view entry, std::vector<bool>& given);

  std::vector<std::int64_t> cycles_, per_work_;
};

/// The limits on a program. Each has a flag of the same name.
struct Limits {
  std::int64_t max_source_bytes = 1 << 20;
  std::int64_t max_nesting = 64;
  std::int64_t max_steps = 10'000'000'000;
  std::int64_t max_array_bytes = std::int64_t{4} << 30;
  std::int64_t max_trace_rows = 10'000;
  std::int64_t max_registers = 1 << 16;
  std::int64_t max_machines = 1024;
};

/// The caller's settings for one run of a program.
struct Binding {
  std::map<std::string, std::int64_t> params;  // overrides the program's defaults, also of .const
  std::map<std::string, double> reals;         // the same for a .const that is not a whole number
  std::optional<std::int64_t> registers;       // overrides the program's .registers
  std::optional<OperandRule> operand_rule;     // overrides the program's .operands
  /// Which machine of a program with .machines; without it, binding refuses such a program.
  std::optional<std::int64_t> machine;
  Limits limits;
};

}  // namespace flashlab::toy
