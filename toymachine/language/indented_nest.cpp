#include "toymachine/language/indented_nest.hpp"

#include <algorithm>

namespace flashlab::toy::detail {

void IndentedNest::leave(std::uint32_t column, std::uint32_t line) {
  while (!open_.empty() && open_.back().column > column) {
    left_.push_back({open_.back(), line});
    open_.pop_back();
  }
}

void IndentedNest::open(const SourceSpan& word) {
  other(word);
  open_.push_back(word);
}

void IndentedNest::close(const SourceSpan& word) {
  leave(word.column, word.line);
  if (!open_.empty()) open_.pop_back();
}

void IndentedNest::other(const SourceSpan& word) { leave(word.column - 1, word.line); }

std::vector<UnclosedLoop> IndentedNest::unclosed(std::size_t open_loops) const {
  std::vector<UnclosedLoop> all = left_;
  for (const SourceSpan& loop : open_) all.push_back({loop, 0});
  if (all.size() != open_loops) return {};
  std::sort(all.begin(), all.end(),
            [](const UnclosedLoop& a, const UnclosedLoop& b) { return a.loop.line < b.loop.line; });
  return all;
}

}  // namespace flashlab::toy::detail
