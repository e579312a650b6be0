#include "toymachine/language/machine.hpp"

#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy {
namespace {

constexpr std::int64_t kMostCycles = 1'000'000'000;

std::vector<std::string> all_mnemonics() {
  std::vector<std::string> names;
  for (const InstructionSpec& spec : instruction_set()) names.emplace_back(spec.mnemonic);
  return names;
}

std::optional<std::int64_t> whole_cycles(std::string_view digits) {
  std::int64_t cycles = -1;
  if (!read_whole(digits, cycles) || cycles < 0 || cycles > kMostCycles) return std::nullopt;
  return cycles;
}

bool works_in_flops(const InstructionSpec& spec) {
  return spec.flop_kind == FlopKind::kProduct || spec.flop_kind == FlopKind::kReduction;
}

/// Returns the name of an instruction's unit of work in `--cost`.
std::string_view unit_of_work(const InstructionSpec& spec) {
  return works_in_flops(spec) ? "flop" : "element";
}

}  // namespace

CostTable::CostTable() {
  for (const InstructionSpec& spec : instruction_set()) cycles_.push_back(spec.cycles);
  per_work_.resize(cycles_.size(), 0);
}

Result<bool> CostTable::parse(std::string_view text) {
  std::vector<bool> given(cycles_.size(), false);
  if (text.ends_with(',')) {
    return request_error("cost '" + std::string(text) + "' ends in a comma", "MNEMONIC=CYCLES,...");
  }
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    Result<bool> read = parse_entry(entry, given);
    if (!read) return read;
  }
  return true;
}

Result<bool> CostTable::parse_entry(std::string_view entry, std::vector<bool>& given) {
  const std::size_t equals = entry.find('=');
  const std::string quoted = "'" + std::string(entry) + "'";
  if (equals == std::string_view::npos) {
    return request_error("cost " + quoted + " has no value", "MNEMONIC=CYCLES");
  }
  const std::string_view name = entry.substr(0, equals);
  const auto row = find_instruction(name);
  if (!row) {
    return request_error("cost for an unknown instruction '" + std::string(name) + "'",
                         "a mnemonic of the instruction table",
                         nearest(name, all_mnemonics()).value_or(""));
  }
  if (given[*row]) {
    return request_error("cost for " + std::string(name) + " is given twice", "one cost each");
  }
  given[*row] = true;
  const InstructionSpec& spec = instruction_set()[*row];
  cycles_[*row] = per_work_[*row] = 0;
  for (std::string_view rest = entry.substr(equals + 1);;) {
    const std::size_t plus = rest.find('+');
    const std::string_view term = rest.substr(0, plus);
    const std::size_t slash = term.find('/');
    const auto cycles = whole_cycles(term.substr(0, slash));
    if (!cycles) {
      return request_error("cost " + quoted + " is not a number of cycles",
                           "whole numbers from 0 to " + std::to_string(kMostCycles) +
                               " such as 4, 2/element or 100+2/element");
    }
    if (slash == std::string_view::npos) {
      cycles_[*row] += *cycles;
    } else if (term.substr(slash + 1) == unit_of_work(spec)) {
      per_work_[*row] += *cycles * (works_in_flops(spec) ? spec.flops : 1);
    } else {
      return request_error(
          "cost " + quoted + " has the unit '" + std::string(term.substr(slash + 1)) + "'",
          "cycles/" + std::string(unit_of_work(spec)) + " for " + std::string(spec.mnemonic));
    }
    if (plus == std::string_view::npos) return true;
    rest.remove_prefix(plus + 1);
  }
}

}  // namespace flashlab::toy
