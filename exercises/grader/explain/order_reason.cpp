#include "exercises/grader/explain/order_reason.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <vector>

#include "exercises/grader/explain/statement_parts.hpp"
#include "toymachine/forms/form_algebra.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {
namespace {

const toy::InstructionSpec* instruction_at(const toy::SourceText& text, std::uint32_t line) {
  const std::vector<std::string> parts = statement_parts(text.line(line));
  const auto row = parts.empty() ? std::nullopt : toy::find_instruction(parts.front());
  return row ? &toy::instruction_set()[*row] : nullptr;
}

bool writes(const toy::SourceText& text, std::uint32_t line, const std::string& name) {
  return LineRegisters(text.line(line)).written == name;
}

bool reads(const toy::SourceText& text, std::uint32_t line, const std::string& name) {
  return LineRegisters(text.line(line)).reads(name);
}

/// The lines between a line and the place where it belongs, from top to bottom; empty if a loop around one of the two
/// ends or begins there.
std::vector<std::uint32_t> lines_between(const toy::SourceText& text, std::uint32_t line,
                                         const RightPlace& place) {
  const bool is_up = place.line < line;
  const std::uint32_t first = is_up ? place.line + (place.is_behind ? 1 : 0) : line + 1;
  const std::uint32_t last = is_up ? line - 1 : place.line - (place.is_behind ? 0 : 1);
  std::vector<std::uint32_t> lines;
  int open = 0;
  for (std::uint32_t one = first; one <= last && one <= text.num_lines(); ++one) {
    const std::vector<std::string> parts = statement_parts(text.line(one));
    if (parts.empty()) continue;
    open += parts.front() == "for" ? 1 : parts.front() == "end" ? -1 : 0;
    if (open < 0 || parts.front().front() == '.') return {};
    lines.push_back(one);
  }
  return open == 0 ? lines : std::vector<std::uint32_t>{};
}

/// The first line that reads the register, if none before it writes another value there; 0: none.
std::uint32_t first_reader(const toy::SourceText& text, const std::vector<std::uint32_t>& lines,
                           const std::string& name) {
  for (const std::uint32_t line : lines) {
    if (reads(text, line, name)) return line;
    if (writes(text, line, name)) return 0;
  }
  return 0;
}

bool is_row_maximum(const toy::InstructionSpec& spec) {
  return spec.flop_kind == toy::FlopKind::kReduction && spec.effect.find("max") != spec.effect.npos;
}

/// Whether the instruction makes 0 of -inf, as an exponential does.
bool makes_weights(const toy::InstructionSpec& spec) {
  constexpr std::array kMasked{-std::numeric_limits<double>::infinity()};
  const auto row = toy::find_instruction(spec.mnemonic);
  return spec.flop_kind == toy::FlopKind::kExponential && toy::numeric_effect(*row, kMasked) == 0;
}

std::string line_text(std::uint32_t line) { return "line " + std::to_string(line); }

}  // namespace

std::string mask_reason(const toy::SourceText& text, std::uint32_t line, const RightPlace& place) {
  const toy::InstructionSpec* const mask = instruction_at(text, line);
  if (mask == nullptr || !mask->is_mask() || place.line > line) return {};
  const LineRegisters own(text.line(line));
  const std::string name(mask->mnemonic);
  std::set<std::string> scores(own.read.begin(), own.read.end());  // and what is made of them
  std::string reason;
  for (const std::uint32_t one : lines_between(text, line, place)) {
    const toy::InstructionSpec* const spec = instruction_at(text, one);
    const LineRegisters here(text.line(one));
    const bool is_of_scores = std::any_of(here.read.begin(), here.read.end(),
                                          [&](const auto& read) { return scores.contains(read); });
    const bool is_weight = own.reads(here.written);  // the mask is on what this line makes
    if (spec == nullptr || (!is_of_scores && !is_weight)) continue;
    const std::string at = std::string(spec->mnemonic) + " (" + line_text(one) + ")";
    if (is_row_maximum(*spec)) {
      reason += " " + at + " must leave masked keys out, too.";
    } else if (makes_weights(*spec)) {
      reason = " " + name + " stands after " + at + ", so the weights of masked keys are " +
               (is_weight ? "-inf" : "not 0") + ": only before it does -inf become 0, as e^-inf." +
               reason;
    }
    if (spec->flop_kind != toy::FlopKind::kReduction) scores.insert(here.written);
  }
  return reason;
}

std::string order_reason(const toy::SourceText& text, std::uint32_t line, const RightPlace& place) {
  if (std::string reason = mask_reason(text, line, place); !reason.empty()) return reason;
  const LineRegisters own(text.line(line));
  std::vector<std::uint32_t> between = lines_between(text, line, place);
  const bool is_up = place.line < line;
  if (const std::uint32_t reader =
          own.written.empty() ? 0 : first_reader(text, between, own.written);
      reader != 0) {
    return is_up ? " L" + line_text(reader).substr(1) + " reads " + own.written + " before " +
                       line_text(line) + " has changed it."
                 : " L" + line_text(reader).substr(1) + " still needs the value of " + own.written +
                       " that " + line_text(line) + " overwrites.";
  }
  if (is_up) std::reverse(between.begin(), between.end());  // the last to write it counts
  for (const std::string& name : own.read) {
    for (const std::uint32_t one : between) {
      if (!writes(text, one, name)) continue;
      return is_up ? " It needs the value of " + name + " that " + line_text(one) + " overwrites."
                   : " It reads " + name + " before " + line_text(one) + " has changed it.";
    }
  }
  return {};
}

std::string swap_sentence(const toy::SourceText& text, std::uint32_t upper_line,
                          std::uint32_t lower_line) {
  const std::string upper = std::to_string(upper_line), lower = std::to_string(lower_line);
  const LineRegisters above(text.line(upper_line)), below(text.line(lower_line));
  const std::string order = "The order is wrong at lines " + upper + " and " + lower;
  if (below.reads(above.written)) {
    return order + ": line " + upper + " overwrote " + above.written + ", whose old value line " +
           lower + " still needs.";
  }
  if (above.reads(below.written)) {
    return order + ": line " + upper + " reads " + below.written + " too early, before line " +
           lower + " has changed it." + mask_reason(text, lower_line, {upper_line, false});
  }
  return order + ".";
}

}  // namespace flashlab::exercises
