#include "exercises/grader/explain/statement_parts.hpp"

#include <algorithm>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Adds what stands between separators that no parentheses or brackets enclose.
void split_outside(std::string_view text, std::string_view separator,
                   std::vector<std::string>& parts) {
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth > 0 || text.substr(at, separator.size()) != separator) continue;
    parts.emplace_back(trimmed(text.substr(from, at - from)));
    at += separator.size() - 1;
    from = at + 1;
  }
  parts.emplace_back(trimmed(text.substr(from)));
}

/// The instruction's row; null for a loop, its end, and what is no instruction.
const toy::InstructionSpec* instruction_in(const std::vector<std::string>& parts) {
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    if (!parts.empty() && spec.mnemonic == parts.front() && spec.num_operands + 1 == parts.size()) {
      return &spec;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> statement_parts(std::string_view line) {
  line = trimmed(line.substr(0, line.find_first_of(";#")));
  if (line.empty()) return {};
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::vector<std::string> parts{std::string(line.substr(0, end))};
  const std::string_view rest = trimmed(line.substr(end));
  if (rest.empty()) return parts;
  if (parts.front() != "for") {
    split_outside(rest, ",", parts);
    return parts;
  }
  std::vector<std::string> around;
  split_outside(rest, " in ", around);
  parts.push_back(around.front());
  if (around.size() < 2) return parts;
  std::vector<std::string> range, last;
  split_outside(around[1], "..", range);
  parts.push_back(range.front());
  if (range.size() < 2) return parts;
  split_outside(range[1], " step ", parts);
  return parts;
}

std::string other_parts_text(std::string_view line, std::string_view right) {
  const std::vector<std::string> mine = statement_parts(line), theirs = statement_parts(right);
  if (mine.empty() || theirs.empty() || mine == theirs) return {};
  if (mine.size() != theirs.size() || mine.front() != theirs.front()) {
    return mine.front() + " where " + theirs.front() + " belongs";
  }
  std::string text;
  std::vector<std::string> told;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] == theirs[i]) continue;
    const bool is_bound = mine.front() == "for" && (i == 2 || i == 3);
    const std::string one =
        std::string(is_bound ? "the bound " : "") + mine[i] + " where " + theirs[i] + " belongs";
    if (std::find(told.begin(), told.end(), one) != told.end()) continue;
    text += (text.empty() ? "" : ", and ") + one;
    told.push_back(one);
  }
  return text;
}

LineRegisters::LineRegisters(std::string_view line) {
  const std::vector<std::string> parts = statement_parts(line);
  const toy::InstructionSpec* const spec = instruction_in(parts);
  for (std::size_t i = 0; spec != nullptr && i < spec->num_operands; ++i) {
    const toy::OperandKind kind = spec->operands[i];
    const std::string& part = parts[i + 1];
    if (toy::is_register_read(kind)) read.push_back(part.substr(0, part.find('^')));
    if (kind == toy::OperandKind::kDestination || toy::is_memory_write(kind)) written = part;
  }
}

bool LineRegisters::reads(const std::string& name) const {
  return std::find(read.begin(), read.end(), name) != read.end();
}

std::string statement_text(std::string_view line) {
  const std::vector<std::string> parts = statement_parts(line);
  if (parts.empty()) return "a line";
  const std::string& first = parts.front();
  if (first == "for" && parts.size() > 1) return "a loop over " + parts[1];
  const std::string written = LineRegisters(line).written;
  return (first.find_first_of("AEIOUe") == 0 ? "an " : "a ") + first +
         (written.empty() ? "" : " that writes " + written);
}

}  // namespace flashlab::exercises
