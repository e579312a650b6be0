#include "exercises/grader/repair/line_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/submission/statement_lines.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostLines = 150;  // of each program: longer ones are compared as they are
constexpr int kMostMoves = 20;
constexpr int kWholeLine = 2;  // the cost of a line that only one of the programs has

using Words = std::vector<std::string>;

/// What a line reads and writes: registers and arrays by name, whatever their indices.
struct Effects {
  bool is_movable = false;
  std::set<std::string> reads, writes;
};

bool have_common(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
}

bool are_independent(const Effects& a, const Effects& b) {
  return a.is_movable && b.is_movable && !have_common(a.writes, b.writes) &&
         !have_common(a.writes, b.reads) && !have_common(a.reads, b.writes);
}

Effects effects_of(const Words& line) {
  const auto rows = toy::instruction_set();
  const auto spec = std::find_if(rows.begin(), rows.end(), [&](const toy::InstructionSpec& one) {
    return !line.empty() && one.mnemonic == line.front();
  });
  Effects effects;
  if (spec == rows.end() || spec->is_link() || line.size() != spec->num_operands + 1) {
    return effects;
  }
  for (std::size_t i = 0; i < spec->num_operands; ++i) {
    const std::string& word = line[i + 1];
    const toy::OperandKind kind = spec->operands[i];
    if (!toy::is_register(kind) && !toy::is_memory(kind)) continue;
    if (word.find('(') < word.find('[')) return effects;  // R(i+1) may be any register
    const std::string name = word.substr(0, word.find_first_of("[^"));
    const bool is_written = kind == toy::OperandKind::kDestination || toy::is_memory_write(kind);
    if (is_written) effects.writes.insert(name);
    if (!is_written || kind == toy::OperandKind::kMemoryUpdate) effects.reads.insert(name);
  }
  effects.is_movable = true;
  return effects;
}

/// The cost of one line in the place of another.
int difference(const Words& a, const Words& b) {
  if (a == b) return 0;
  if (a.size() != b.size()) return 2 * kWholeLine;
  int others = 0;
  for (std::size_t i = 0; i < a.size(); ++i) others += a[i] == b[i] ? 0 : 1;
  return std::min(2 * kWholeLine, 1 + others);
}

/// The lines that have words.
std::vector<std::uint32_t> written_lines(const toy::SourceText& text) {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
    if (!words(text.line(line)).empty()) lines.push_back(line);
  }
  return lines;
}

class LineOrder {
 public:
  LineOrder(const toy::SourceText& solution, const toy::SourceText& mine)
      : lines_(written_lines(solution)) {
    const std::vector<std::uint32_t> others = written_lines(mine);
    is_short_ = std::max(lines_.size(), others.size()) <= kMostLines;
    if (!is_short_) return;
    for (const std::uint32_t line : lines_) {
      const Words here = words(solution.line(line));
      effects_.push_back(effects_of(here));
      order_.push_back(order_.size());
      costs_.emplace_back();
      for (const std::uint32_t other : others) {
        costs_.back().push_back(difference(here, words(mine.line(other))));
      }
    }
    num_others_ = others.size();
  }

  /// The numbers of the solution's lines in their new order; empty if nothing is moved.
  std::vector<std::uint32_t> find() {
    if (!is_short_) return {};
    int best = cost(order_);
    bool is_changed = false;
    for (int moves = 0; best > 0 && moves < kMostMoves && move(best); ++moves) is_changed = true;
    std::vector<std::uint32_t> found;
    for (const std::size_t i : order_) {
      if (is_changed) found.push_back(lines_[i]);
    }
    return found;
  }

 private:
  /// Makes the move that lowers the cost most. Returns false if none does.
  bool move(int& best) {
    std::vector<std::size_t> next;
    const auto consider = [&](std::vector<std::size_t> tried) {
      const int here = cost(tried);
      if (here >= best) return;
      best = here;
      next = std::move(tried);
    };
    for (std::size_t from = 0; from < order_.size(); ++from) {
      std::vector<std::size_t> tried = order_;
      for (std::size_t at = from; at + 1 < tried.size() && can_pass(tried, at); ++at) {
        std::swap(tried[at], tried[at + 1]);
        consider(tried);
      }
      tried = order_;
      for (std::size_t at = from; at > 0 && can_pass(tried, at - 1); --at) {
        std::swap(tried[at - 1], tried[at]);
        consider(tried);
      }
    }
    if (next.empty()) return false;
    order_ = std::move(next);
    return true;
  }

  bool can_pass(const std::vector<std::size_t>& order, std::size_t upper) const {
    return are_independent(effects_[order[upper]], effects_[order[upper + 1]]);
  }

  /// Of what differs from the other program's lines, in order.
  int cost(const std::vector<std::size_t>& order) const {
    std::vector<int> row(num_others_ + 1);
    for (std::size_t j = 0; j <= num_others_; ++j) row[j] = static_cast<int>(j) * kWholeLine;
    for (const std::size_t line : order) {
      int diagonal = row[0];
      row[0] += kWholeLine;
      for (std::size_t j = 1; j <= num_others_; ++j) {
        const int replaced = diagonal + costs_[line][j - 1];
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + kWholeLine, row[j - 1] + kWholeLine});
      }
    }
    return row[num_others_];
  }

  const std::vector<std::uint32_t> lines_;
  std::vector<Effects> effects_;         // by line
  std::vector<std::vector<int>> costs_;  // of another line in the place of each
  std::vector<std::size_t> order_;       // into lines_
  std::size_t num_others_ = 0;
  bool is_short_ = false;
};

}  // namespace

std::shared_ptr<const toy::Program> with_line_order(
    const std::shared_ptr<const toy::Program>& solution, const toy::Program& program) {
  const std::vector<std::uint32_t> order = LineOrder(*solution->source, *program.source).find();
  if (order.empty()) return solution;
  std::string text;
  for (const std::uint32_t line : order) text += std::string(solution->source->line(line)) + "\n";
  auto ordered = toy::assemble(std::make_shared<const toy::SourceText>("solution", text));
  return ordered ? std::make_shared<const toy::Program>(std::move(*ordered)) : solution;
}

}  // namespace flashlab::exercises
