#include "exercises/grader/prove/program_lines.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace flashlab::exercises {
namespace {

constexpr const char* kNoLine = "\x01";

std::string trimmed_line(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// At the commas outside of brackets.
std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed_line(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed_line(part).empty()) parts.push_back(trimmed_line(part));
  return parts;
}

LoopLine loop_of(const std::string& code, std::size_t line) {
  LoopLine loop;
  loop.line = line;
  const std::size_t in = code.find(" in "), dots = code.find("..", in), step = code.find(" step ");
  loop.variable = trimmed_line(code.substr(4, in - 4));
  loop.lower = trimmed_line(code.substr(in + 4, dots - in - 4));
  loop.upper =
      trimmed_line(code.substr(dots + 2, step == std::string::npos ? step : step - dots - 2));
  if (step != std::string::npos) loop.rest = code.substr(step);
  return loop;
}

}  // namespace

ProgramLines::ProgramLines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::size_t> open;
  bool has_body = false;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t number = lines_.size();
    lines_.push_back(line);
    const std::string code = trimmed_line(line.substr(0, line.find(';')));
    if (code.empty() || (code[0] == '.' && !code.starts_with(".pass"))) continue;
    if (!has_body) body_ = number;
    has_body = true;
    if (code[0] == '.') continue;
    if (code.starts_with("for ")) {
      open.push_back(loops_.size());
      loops_.push_back(loop_of(code, number));
    } else if (code == "end") {
      loops_[open.back()].end = number;
      open.pop_back();
    } else {
      const std::size_t space = std::min(code.find_first_of(" \t"), code.size());
      instructions_.push_back(
          {number, code.substr(0, space), split_operands(code.substr(space)), open});
    }
  }
}

std::vector<std::size_t> ProgramLines::declarations(std::string_view word) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::string code = trimmed_line(lines_[i]);
    if (code.starts_with(word) && (code.size() == word.size() || code[word.size()] == ' ')) {
      found.push_back(i);
    }
  }
  return found;
}

ChangedLines& ChangedLines::replace(std::size_t line, const std::string& by) {
  lines_[line] = by;
  return *this;
}

ChangedLines& ChangedLines::before(std::size_t line, const std::string& text) {
  lines_[line] = lines_[line] == kNoLine ? text : text + "\n" + lines_[line];
  return *this;
}

ChangedLines& ChangedLines::after(std::size_t line, const std::string& text) {
  lines_[line] = lines_[line] == kNoLine ? text : lines_[line] + "\n" + text;
  return *this;
}

ChangedLines& ChangedLines::drop(std::size_t line) { return replace(line, kNoLine); }

std::string ChangedLines::text() const {
  std::string text;
  for (const std::string& line : lines_) {
    if (line != kNoLine) text += line + "\n";
  }
  return text;
}

std::string array_of(const std::string& cell) { return cell.substr(0, cell.find('[')); }

bool has_name(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !is_of_a_name(text[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == text.size() || !is_of_a_name(text[end]))) return true;
  }
  return false;
}

}  // namespace flashlab::exercises
