#include "toymachine/machine.hpp"

#include <charconv>

namespace flashlab::toy {
namespace {

constexpr std::int64_t kMostCycles = 1'000'000'000;

Diagnostic request_error(std::string what, std::string expected, std::string suggestion = {}) {
  return {Severity::kError, Fault::kRequest,     {},
          std::move(what),  std::move(expected), std::move(suggestion)};
}

std::vector<std::string> mnemonics() {
  std::vector<std::string> names;
  for (const InstructionSpec& spec : instruction_set()) names.emplace_back(spec.mnemonic);
  return names;
}

}  // namespace

CostTable::CostTable() {
  for (const InstructionSpec& spec : instruction_set()) cycles_.push_back(spec.cycles);
}

Result<bool> CostTable::parse(std::string_view text) {
  std::vector<bool> given(cycles_.size(), false);
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
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
                           nearest(name, mnemonics()).value_or(""));
    }
    const std::string_view digits = entry.substr(equals + 1);
    std::int64_t cycles = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), cycles);
    if (error != std::errc{} || end != digits.data() + digits.size() || cycles < 0 ||
        cycles > kMostCycles) {
      return request_error("cost " + quoted + " is not a number of cycles",
                           "a whole number from 0 to " + std::to_string(kMostCycles));
    }
    if (given[*row]) {
      return request_error("cost for " + std::string(name) + " is given twice", "one cost each");
    }
    given[*row] = true;
    cycles_[*row] = cycles;
  }
  return true;
}

}  // namespace flashlab::toy
