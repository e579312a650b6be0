#include "exercises/grader/repair/line_differences.hpp"

#include <algorithm>
#include <map>

#include "exercises/grader/submission/statement_lines.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kLongestMiddle = 150;  // lines between the first and the last difference

/// The lines of a text that have words.
struct WrittenLines {
  explicit WrittenLines(const toy::SourceText& source) {
    for (std::uint32_t line = 1; line <= source.num_lines(); ++line) {
      std::vector<std::string> here = exercises::words(source.line(line));
      if (here.empty()) continue;
      numbers.push_back(line);
      words.push_back(std::move(here));
    }
  }

  std::uint32_t number(std::size_t i) const { return i < numbers.size() ? numbers[i] : 0; }

  std::vector<std::uint32_t> numbers;
  std::vector<std::vector<std::string>> words;
};

/// How many lines two texts have in common from line i of one and line j of the other on.
class CommonLines {
 public:
  CommonLines(const WrittenLines& mine, const WrittenLines& other, std::size_t from,
              std::size_t mine_end, std::size_t other_end)
      : from_(from), width_(other_end - from + 1), table_((mine_end - from + 1) * width_, 0) {
    for (std::size_t i = mine_end; i-- > from;) {
      for (std::size_t j = other_end; j-- > from;) {
        at(i, j) = mine.words[i] == other.words[j] ? at(i + 1, j + 1) + 1
                                                   : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }

  std::size_t operator()(std::size_t i, std::size_t j) const {
    return table_[(i - from_) * width_ + j - from_];
  }

 private:
  std::size_t& at(std::size_t i, std::size_t j) { return table_[(i - from_) * width_ + j - from_]; }

  std::size_t from_, width_;
  std::vector<std::size_t> table_;
};

}  // namespace

std::optional<std::vector<LineDifference>> line_differences(const toy::SourceText& mine,
                                                            const toy::SourceText& other,
                                                            std::size_t most_lines) {
  const WrittenLines a(mine), b(other);
  std::size_t from = 0, a_end = a.words.size(), b_end = b.words.size();
  while (from < std::min(a_end, b_end) && a.words[from] == b.words[from]) ++from;
  while (std::min(a_end, b_end) > from && a.words[a_end - 1] == b.words[b_end - 1]) {
    --a_end;
    --b_end;
  }
  if (std::max(a_end, b_end) - from > kLongestMiddle) return std::nullopt;
  const CommonLines common(a, b, from, a_end, b_end);
  if (a_end + b_end - 2 * from - 2 * common(from, from) > most_lines) return std::nullopt;
  std::vector<LineDifference> differences;
  bool is_open = false;
  for (std::size_t i = from, j = from; i < a_end || j < b_end;) {
    if (i < a_end && j < b_end && a.words[i] == b.words[j]) {
      if (is_open) differences.back().below = a.numbers[i];
      is_open = false;
      ++i;
      ++j;
      continue;
    }
    if (!is_open) {
      differences.push_back({{}, {}, i > 0 ? a.numbers[i - 1] : 0, a.number(a_end)});
      is_open = true;
    }
    const bool takes_mine = i < a_end && (j == b_end || common(i + 1, j) >= common(i, j + 1));
    if (takes_mine) {
      differences.back().mine.push_back(a.numbers[i++]);
    } else {
      differences.back().other.push_back(b.numbers[j++]);
    }
  }
  return differences;
}

std::string replaced_text(const toy::SourceText& mine, const toy::SourceText& other,
                          const std::vector<LineDifference>& differences) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> behind;  // lines of the other text, by mine
  std::map<std::uint32_t, bool> is_left_out;
  for (const LineDifference& one : differences) {
    behind[one.mine.empty() ? one.above : one.mine.back()] = one.other;
    for (const std::uint32_t line : one.mine) is_left_out[line] = true;
  }
  std::string text;
  for (std::uint32_t line = 0; line <= mine.num_lines(); ++line) {
    if (line > 0 && !is_left_out.contains(line)) text += std::string(mine.line(line)) + "\n";
    const auto more = behind.find(line);
    if (more == behind.end()) continue;
    for (const std::uint32_t theirs : more->second) {
      text += std::string(other.line(theirs)) + "\n";
    }
  }
  return text;
}

}  // namespace flashlab::exercises
