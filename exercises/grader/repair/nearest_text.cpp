#include "exercises/grader/repair/nearest_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/submission/statement_lines.hpp"

namespace flashlab::exercises {
namespace {

/// One change of the wrong text.
struct Change {
  enum class Kind : std::uint8_t {
    kWord,    // of a line
    kLine,    // the whole line
    kDrop,    // without the line
    kInsert,  // a line behind it; line 0: at the beginning
  };
  Kind kind = Kind::kWord;
  std::uint32_t line = 0;
  std::size_t word = 0;
  std::string from, to;  // kWord: the words; kLine, kInsert: `to` is the line
};
using Changes = std::vector<Change>;

/// Replaces a word as words() counts them.
std::string with_word(std::string text, std::size_t number, const std::string& word) {
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    at = text.find_first_not_of(" \t,", at);
    if (at == std::string::npos) return text;
    const std::size_t end = std::min(text.find_first_of(" \t,;#", at), text.size());
    if (i == number) return text.replace(at, end - at, word);
    at = end;
  }
}

/// How the lines of a difference belong together: those that begin with the same word, in their order.
class Pairs {
 public:
  Pairs(const LineDifference& one, const toy::SourceText& mine, const toy::SourceText& right)
      : mine_(mine), right_(right), one_(one) {}

  /// Adds the changes from top to bottom.
  void add(Changes& changes) {
    const std::size_t m = one_.mine.size(), n = one_.other.size();
    std::vector<std::vector<std::size_t>> common(m + 1, std::vector<std::size_t>(n + 1, 0));
    for (std::size_t i = m; i-- > 0;) {
      for (std::size_t j = n; j-- > 0;) {
        common[i][j] =
            is_pair(i, j) ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
      }
    }
    std::uint32_t above = one_.above;
    std::vector<std::uint32_t> mine;  // since the last pair
    std::vector<std::string> other;
    for (std::size_t i = 0, j = 0; i < m || j < n;) {
      if (i < m && j < n && is_pair(i, j)) {
        add_gap(above, mine, other, changes);
        above = one_.mine[i];
        add_pair(above, std::string(right_.line(one_.other[j])), changes);
        ++i;
        ++j;
      } else if (i < m && (j == n || common[i + 1][j] >= common[i][j + 1])) {
        mine.push_back(one_.mine[i++]);
      } else {
        other.emplace_back(right_.line(one_.other[j++]));
      }
    }
    add_gap(above, mine, other, changes);
  }

 private:
  bool is_pair(std::size_t i, std::size_t j) const {
    return words(mine_.line(one_.mine[i])).front() == words(right_.line(one_.other[j])).front();
  }

  /// Between two pairs: a line in the place of each line, as far as there are some.
  static void add_gap(std::uint32_t above, std::vector<std::uint32_t>& mine,
                      std::vector<std::string>& other, Changes& changes) {
    for (std::size_t i = 0; i < std::max(mine.size(), other.size()); ++i) {
      if (i < mine.size()) above = mine[i];
      const Change::Kind kind = i >= mine.size()    ? Change::Kind::kInsert
                                : i >= other.size() ? Change::Kind::kDrop
                                                    : Change::Kind::kLine;
      changes.push_back({kind, above, 0, "", i < other.size() ? other[i] : ""});
    }
    mine.clear();
    other.clear();
  }

  void add_pair(std::uint32_t line, const std::string& text, Changes& changes) const {
    const std::vector<std::string> before = words(mine_.line(line)), after = words(text);
    if (before.size() != after.size()) {
      changes.push_back({Change::Kind::kLine, line, 0, "", text});
      return;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      changes.push_back({Change::Kind::kWord, line, i, before[i], after[i]});
    }
  }

  const toy::SourceText &mine_, &right_;
  const LineDifference& one_;
};

std::string text_with(const toy::SourceText& mine, const Changes& changes) {
  std::map<std::uint32_t, std::vector<const Change*>> by_line;
  for (const Change& change : changes) by_line[change.line].push_back(&change);
  std::string text;
  for (std::uint32_t line = 0; line <= mine.num_lines(); ++line) {
    std::string here = line == 0 ? "" : std::string(mine.line(line)), behind;
    bool is_there = line > 0;
    for (const Change* change : by_line[line]) {
      switch (change->kind) {
        case Change::Kind::kWord:
          here = with_word(std::move(here), change->word, change->to);
          break;
        case Change::Kind::kLine:
          here = change->to;
          break;
        case Change::Kind::kDrop:
          is_there = false;
          break;
        case Change::Kind::kInsert:
          behind += change->to + "\n";
          break;
      }
    }
    if (is_there) text += here + "\n";
    text += behind;
  }
  return text;
}

class Reduction {
 public:
  Reduction(const toy::SourceText& mine, Changes changes,
            const std::function<bool(const std::string&)>& is_right, int trials)
      : mine_(mine), changes_(std::move(changes)), is_right_(is_right), trials_(trials) {}

  std::string run() {
    while (without_a_name() || without_neighbours()) {
    }
    rename_inserted_lines();
    return text_with(mine_, changes_);
  }

 private:
  /// A line that was moved is one mistake, even if it does no harm to have it at both places.
  bool parts_a_move(const Changes& left) const {
    const auto has = [](const Changes& all, Change::Kind kind, const std::vector<std::string>& line,
                        const toy::SourceText& mine) {
      return std::any_of(all.begin(), all.end(), [&](const Change& change) {
        return change.kind == kind &&
               words(kind == Change::Kind::kDrop ? mine.line(change.line) : change.to) == line;
      });
    };
    return std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) {
      if (change.kind != Change::Kind::kDrop) return false;
      const std::vector<std::string> line = words(mine_.line(change.line));
      return has(changes_, Change::Kind::kInsert, line, mine_) &&
             has(left, Change::Kind::kDrop, line, mine_) !=
                 has(left, Change::Kind::kInsert, line, mine_);
    });
  }

  bool take(Changes changes) {
    if (changes.empty() || trials_ == 0 || parts_a_move(changes)) return false;
    --trials_;
    if (!is_right_(text_with(mine_, changes))) return false;
    changes_ = std::move(changes);
    return true;
  }

  static bool is_renamed(const Change& change, const Change& like) {
    return change.kind == Change::Kind::kWord && change.from == like.from && change.to == like.to;
  }

  Changes without_name(const Change& like) const {
    Changes left = changes_;
    std::erase_if(left, [&](const Change& change) { return is_renamed(change, like); });
    return left;
  }

  /// Leaves out all places where the right text has one word for another: P for S.
  bool without_a_name() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const Change like = changes_[i];
      if (like.kind == Change::Kind::kWord && take(without_name(like))) return true;
    }
    return false;
  }

  /// Leaves out changes that follow each other, as many as possible.
  bool without_neighbours() {
    const std::size_t all = changes_.size();
    for (std::size_t length = all > 0 ? all - 1 : 0; length > 0; --length) {
      for (std::size_t first = 0; first + length <= all; ++first) {
        Changes left = changes_;
        const auto from = left.begin() + static_cast<std::ptrdiff_t>(first);
        left.erase(from, from + static_cast<std::ptrdiff_t>(length));
        if (take(std::move(left))) return true;
      }
    }
    return false;
  }

  /// A line that is missing may need the names of the wrong text: "EXP P, P" for "EXP S, P".
  void rename_inserted_lines() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const Change like = changes_[i];
      if (like.kind != Change::Kind::kWord) continue;
      for (std::size_t k = 0; k < changes_.size(); ++k) {
        if (changes_[k].kind == Change::Kind::kInsert && renames(k, like))
          return rename_inserted_lines();
      }
    }
  }

  bool renames(std::size_t insert, const Change& like) {
    const std::vector<std::string> line = words(changes_[insert].to);
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i] == like.to) places.push_back(i);
    }
    for (std::size_t chosen = 1; chosen < (std::size_t{1} << places.size()); ++chosen) {
      Changes left = changes_;
      for (std::size_t p = 0; p < places.size(); ++p) {
        if ((chosen >> p) % 2 == 0) continue;
        left[insert].to = with_word(std::move(left[insert].to), places[p], like.from);
      }
      std::erase_if(left, [&](const Change& change) { return is_renamed(change, like); });
      if (take(std::move(left))) return true;
    }
    return false;
  }

  const toy::SourceText& mine_;
  Changes changes_;
  const std::function<bool(const std::string&)>& is_right_;
  int trials_;
};

}  // namespace

std::string nearest_text(const toy::SourceText& mine, const toy::SourceText& right,
                         const std::function<bool(const std::string&)>& is_right, int most_trials) {
  const auto all = line_differences(mine, right);
  if (!all || all->empty()) return std::string(right.text());
  Changes changes;
  for (const LineDifference& one : *all) Pairs(one, mine, right).add(changes);
  return Reduction(mine, std::move(changes), is_right, most_trials).run();
}

}  // namespace flashlab::exercises
