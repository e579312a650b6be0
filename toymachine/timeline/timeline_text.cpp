// The text of timelines: names, letters, the program's own instructions.
#include <cctype>
#include <vector>

#include "toymachine/timeline/timeline.hpp"

namespace flashlab::toy {
namespace {

bool is_product(std::size_t row) { return instruction_set()[row].flop_kind == FlopKind::kProduct; }

/// An instruction gets its first letter if no earlier one has it, otherwise a free letter, if
/// possible one of its own. Those of a level choose before those that programs ask for by name.
std::string make_letters() {
  const auto rows = instruction_set();
  std::string letters(rows.size(), ' ');
  std::string taken;
  const auto take = [&](std::size_t row, char letter) {
    if (letters[row] != ' ' || taken.find(letter) != std::string::npos) return;
    taken += letter;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == row || (is_product(row) && is_product(i))) letters[i] = letter;
    }
  };
  for (const bool by_name : {false, true}) {
    std::vector<std::size_t> choosing;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const bool is_usual = rows[row].in(Level::kAttention) || rows[row].is_link();
      if (is_usual != by_name) choosing.push_back(row);
    }
    for (const std::size_t row : choosing) take(row, rows[row].mnemonic[0]);
    for (const std::size_t row : choosing) {
      for (const char letter : rows[row].mnemonic.substr(1)) {
        if (letter != '_') take(row, letter);
      }
      for (const char letter : rows[row].mnemonic) {
        take(row, static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
      }
      for (char letter = 'a'; letter <= 'z'; ++letter) take(row, letter);
    }
  }
  return letters;
}

}  // namespace

const std::string& instruction_letters() {
  static const std::string letters = make_letters();
  return letters;
}

std::vector<Unit> units_of(const BoundProgram& program) {
  std::vector<Unit> units{Unit::kMemory, Unit::kCompute};
  if (program.machine) units.push_back(Unit::kLink);
  return units;
}

std::string_view to_string(Unit unit) {
  constexpr std::array<std::string_view, kNumUnits> kNames{"memory", "compute", "link"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view to_string(Cause cause) {
  constexpr std::array<std::string_view, kNumCauses> kNames{"busy", "data", "buffer", "idle"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string to_string(const TimelineModel& model) {
  if (!model.overlap) return "serial";
  return "overlap, " + std::to_string(model.buffers) +
         (model.buffers == 1 ? " buffer" : " buffers");
}

std::string instruction_text(const BoundProgram& program, const BoundInstruction& instruction) {
  std::string text(program.program->source->line(instruction.span.line));
  text = text.substr(0, text.find_first_of(";#"));
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace flashlab::toy
