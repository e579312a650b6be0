#include "exercises/grader/repair/rearranged.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "exercises/grader/submission/statement_lines.hpp"

namespace flashlab::exercises {
namespace {

using Words = std::vector<std::string>;

bool is_instruction(const Words& line) {
  return !line.empty() && line.front().front() != '.' && line.front() != "for" &&
         line.front() != "end";
}

class Rearrangements {
 public:
  Rearrangements(const toy::Program& program, const toy::Program& solution,
                 const std::set<std::uint32_t>& lines)
      : lines_(lines) {
    const toy::SourceText& source = *program.source;
    for (std::uint32_t line = 1; line <= source.num_lines(); ++line) {
      text_.emplace_back(source.line(line));
      words_.push_back(words(source.line(line)));
    }
    gather_loops(*solution.source);
  }

  std::vector<Rearranged> run() {
    constexpr std::size_t kLongestBlock = 3;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::size_t k = i + 1; k < words_.size(); ++k) exchange(i, k);
    }
    add_loops();
    for (std::size_t length = 2; length <= kLongestBlock; ++length) {
      for (std::size_t first = 0; first + length <= words_.size(); ++first) move(first, length);
    }
    return std::move(found_);
  }

 private:
  bool is_listed(std::size_t i) const { return lines_.contains(static_cast<std::uint32_t>(i + 1)); }

  void move(std::size_t first, std::size_t length) {
    bool is_block = true, has_listed = false;
    for (std::size_t i = first; i < first + length; ++i) {
      is_block = is_block && is_instruction(words_[i]);
      has_listed = has_listed || is_listed(i);
    }
    if (!is_block || !has_listed) return;
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::string> block(from, from + static_cast<std::ptrdiff_t>(length));
    std::vector<std::string> rest = text_;
    const auto gone = rest.begin() + static_cast<std::ptrdiff_t>(first);
    rest.erase(gone, gone + static_cast<std::ptrdiff_t>(length));
    for (const std::size_t at : by_depth(rest)) {
      const std::size_t below = at < first ? at : at + length;
      if (at == first || !is_place(rest, at)) continue;
      if (!is_listed(below) && (below == 0 || !is_listed(below - 1))) continue;
      std::vector<std::string> moved = rest;
      moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(at), block.begin(), block.end());
      add(moved, differences(first, length, at));
    }
  }

  /// The places before all lines and at the end; first those in the fewest loops.
  static std::vector<std::size_t> by_depth(const std::vector<std::string>& text) {
    std::vector<std::pair<int, std::size_t>> places;
    int depth = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      places.emplace_back(depth, at);
      const Words here = at < text.size() ? words(text[at]) : Words{};
      if (!here.empty()) depth += here.front() == "for" ? 1 : here.front() == "end" ? -1 : 0;
    }
    std::sort(places.begin(), places.end());
    std::vector<std::size_t> found;
    for (const auto& [loops, at] : places) found.push_back(at);
    return found;
  }

  /// Loops of one line of the solution that the program lacks.
  void add_loops() {
    for (const std::vector<std::string>& loop : loops_) {
      for (const std::size_t at : by_depth(text_)) {
        if (!is_listed(at) && (at == 0 || !is_listed(at - 1))) continue;
        if (!is_place(text_, at)) continue;
        std::vector<std::string> text = text_;
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), loop.begin(), loop.end());
        add(text);
      }
    }
  }

  /// Around each instruction of the solution that the program does not have and that needs the loop's variable.
  void gather_loops(const toy::SourceText& solution) {
    const std::set<Words> mine(words_.begin(), words_.end());
    std::string head, variable;
    for (std::uint32_t line = 1; line <= solution.num_lines(); ++line) {
      const Words here = words(solution.line(line));
      if (!here.empty() && here.front() == "for") {
        head = std::string(solution.line(line));
        variable = "[" + here[1] + "]";
      }
      const bool needs_it = solution.line(line).find(variable) != std::string_view::npos;
      if (!is_instruction(here) || mine.contains(here) || head.empty() || !needs_it) continue;
      loops_.push_back({head, std::string(solution.line(line)), "end"});
    }
  }

  /// Whether lines may stand before this one: beside an instruction or a loop.
  static bool is_place(const std::vector<std::string>& text, std::size_t at) {
    const Words below = at < text.size() ? words(text[at]) : Words{};
    const Words above = at > 0 ? words(text[at - 1]) : Words{};
    const auto is_code = [](const Words& line) {
      return !line.empty() && line.front().front() != '.';
    };
    return is_code(below) || (below.empty() && is_code(above));
  }

  void exchange(std::size_t i, std::size_t k) {
    const Words &one = words_[i], &other = words_[k];
    if (!is_instruction(one) || one.size() != other.size()) return;
    if (one.front() != other.front() || !is_listed(i) || !is_listed(k)) return;
    for (std::size_t word = 1; word < one.size(); ++word) {
      if (one[word] == other[word]) continue;
      std::vector<std::string> text = text_;
      text[i] = with_word(one, word, other[word]);
      text[k] = with_word(other, word, one[word]);
      add(text);
    }
  }

  static std::string with_word(const Words& line, std::size_t word, const std::string& other) {
    std::string text = line.front();
    for (std::size_t i = 1; i < line.size(); ++i) {
      text += (i == 1 ? " " : ", ") + (i == word ? other : line[i]);
    }
    return text;
  }

  /// Of a block that stands before line `at` of the text without it.
  std::vector<LineDifference> differences(std::size_t first, std::size_t length,
                                          std::size_t at) const {
    const std::size_t below = at < first ? at : at + length;
    LineDifference there{{}, {}, statement_at(first, -1), statement_at(first + length - 1, 1)};
    LineDifference missing{{}, {}, below > 0 ? statement_at(below, -1) : 0, 0};
    missing.below = below < words_.size() && !words_[below].empty()
                        ? static_cast<std::uint32_t>(below + 1)
                        : statement_at(below, 1);
    for (std::size_t i = 0; i < length; ++i) {
      there.mine.push_back(static_cast<std::uint32_t>(first + i + 1));
      missing.other.push_back(static_cast<std::uint32_t>(at + i + 1));
    }
    if (at < first) return {std::move(missing), std::move(there)};
    return {std::move(there), std::move(missing)};
  }

  /// The nearest line with a statement above or below this one; 0: none.
  std::uint32_t statement_at(std::size_t i, int step) const {
    for (auto at = static_cast<std::ptrdiff_t>(i) + step;
         at >= 0 && at < static_cast<std::ptrdiff_t>(words_.size()); at += step) {
      if (!words_[static_cast<std::size_t>(at)].empty()) return static_cast<std::uint32_t>(at + 1);
    }
    return 0;
  }

  void add(const std::vector<std::string>& lines, std::vector<LineDifference> moved = {}) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    found_.push_back({std::move(text), std::move(moved)});
  }

  const std::set<std::uint32_t>& lines_;
  std::vector<std::string> text_;
  std::vector<Words> words_;
  std::vector<std::vector<std::string>> loops_;  // that may be missing
  std::vector<Rearranged> found_;
};

}  // namespace

std::vector<Rearranged> rearranged_programs(const toy::Program& program,
                                            const toy::Program& solution,
                                            const std::set<std::uint32_t>& lines) {
  return Rearrangements(program, solution, lines).run();
}

}  // namespace flashlab::exercises
