#include "toymachine/language/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>
#include <utility>

#include "toymachine/language/instruction_table.hpp"

namespace flashlab::toy {
namespace {

constexpr auto kSpecs = std::apply(
    [](const auto&... rows) { return std::array<InstructionSpec, sizeof...(rows)>{rows.spec...}; },
    detail::kInstructionRows);

constexpr bool mnemonics_are_unique() {
  for (std::size_t i = 0; i < kSpecs.size(); ++i) {
    for (std::size_t j = i + 1; j < kSpecs.size(); ++j) {
      if (kSpecs[i].mnemonic == kSpecs[j].mnemonic) return false;
    }
  }
  return true;
}
static_assert(mnemonics_are_unique(), "two rows of the instruction table share a mnemonic");

constexpr std::array<std::pair<Level, std::string_view>, 3> kLevelNames{
    {{Level::kMatmul, "matmul"}, {Level::kSoftmax, "softmax"}, {Level::kAttention, "attention"}}};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

}  // namespace

std::span<const InstructionSpec> instruction_set() { return kSpecs; }

std::optional<std::size_t> find_instruction(std::string_view mnemonic) {
  for (std::size_t i = 0; i < kSpecs.size(); ++i) {
    if (equal_ignoring_case(kSpecs[i].mnemonic, mnemonic)) return i;
  }
  return std::nullopt;
}

std::string_view to_string(Level level) {
  return kLevelNames[static_cast<std::size_t>(level)].second;
}

std::optional<Level> parse_level(std::string_view name) {
  for (const auto& [level, level_name] : kLevelNames) {
    if (equal_ignoring_case(level_name, name)) return level;
  }
  return std::nullopt;
}

}  // namespace flashlab::toy
