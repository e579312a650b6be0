#include "exercises/grader/submission/statement_lines.hpp"

namespace flashlab::exercises {

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> result(1);
  for (const char c : line.substr(0, line.find_first_of(";#"))) {
    const bool separates = c == ' ' || c == '\t' || c == ',';
    if (!separates) result.back() += c;
    if (separates && !result.back().empty()) result.emplace_back();
  }
  if (result.back().empty()) result.pop_back();
  return result;
}

std::uint32_t next_statement(const toy::SourceText& source, std::uint32_t line, int step) {
  const auto last = static_cast<std::int64_t>(source.num_lines());
  for (std::int64_t at = std::int64_t{line} + step; at >= 1 && at <= last; at += step) {
    const std::vector<std::string> there = words(source.line(static_cast<std::uint32_t>(at)));
    if (!there.empty() && there[0][0] != '.') return static_cast<std::uint32_t>(at);
  }
  return 0;
}

StatementLines::StatementLines(const toy::SourceText& source) : words_(1) {
  for (std::uint32_t line = 1; line <= source.num_lines(); ++line) {
    words_.push_back(exercises::words(source.line(line)));
    if (!words_.back().empty()) places_[words_.back()].push_back(line);
  }
}

std::vector<std::uint32_t> StatementLines::with(const Words& words) const {
  const auto found = places_.find(words);
  return found == places_.end() ? std::vector<std::uint32_t>{} : found->second;
}

std::uint32_t StatementLines::next(std::uint32_t line, int step) const {
  const auto last = static_cast<std::int64_t>(words_.size()) - 1;
  for (std::int64_t at = std::int64_t{line} + step; at >= 1 && at <= last; at += step) {
    const Words& there = words_[static_cast<std::size_t>(at)];
    if (!there.empty() && there[0][0] != '.') return static_cast<std::uint32_t>(at);
  }
  return 0;
}

}  // namespace flashlab::exercises
