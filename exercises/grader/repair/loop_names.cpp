#include "exercises/grader/repair/loop_names.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exercises/grader/submission/statement_lines.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

struct NamedLoop {
  std::string variable;
  std::size_t depth = 0;
  std::uint32_t first = 0, last = 0;  // lines of `for` and `end`; last 0: it has no end
};

std::vector<NamedLoop> loops_of(const toy::SourceText& text) {
  std::vector<NamedLoop> loops;
  std::vector<std::size_t> open;
  for (std::uint32_t line = 1; line <= text.num_lines(); ++line) {
    const std::vector<std::string> here = words(text.line(line));
    if (here.size() > 1 && here.front() == "for") {
      loops.push_back({here[1], open.size(), line, 0});
      open.push_back(loops.size() - 1);
    } else if (!here.empty() && here.front() == "end" && !open.empty()) {
      loops[open.back()].last = line;
      open.pop_back();
    }
  }
  return loops;
}

/// The number of a loop of the other program, for each loop; SIZE_MAX: none. The longest common sequence of depths.
std::vector<std::size_t> counterparts(const std::vector<NamedLoop>& mine,
                                      const std::vector<NamedLoop>& other) {
  const std::size_t m = mine.size(), n = other.size();
  std::vector<std::vector<std::size_t>> common(m + 1, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t i = m; i-- > 0;) {
    for (std::size_t j = n; j-- > 0;) {
      common[i][j] = mine[i].depth == other[j].depth ? common[i + 1][j + 1] + 1
                                                     : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<std::size_t> found(m, SIZE_MAX);
  for (std::size_t i = 0, j = 0; i < m && j < n;) {
    if (mine[i].depth == other[j].depth) {
      found[i++] = j++;
    } else if (common[i + 1][j] >= common[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return found;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Replaces whole names.
std::string renamed_line(std::string_view line, const std::map<std::string, std::string>& names) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_of_name(line[at])) {
      text += line[at++];
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_of_name(line[end])) ++end;
    const std::string name(line.substr(at, end - at));
    const auto found = names.find(name);
    text += found == names.end() ? name : found->second;
    at = end;
  }
  return text;
}

}  // namespace

std::shared_ptr<const toy::Program> with_loop_names(
    const std::shared_ptr<const toy::Program>& solution, const toy::Program& program) {
  const std::vector<NamedLoop> loops = loops_of(*solution->source),
                               learners = loops_of(*program.source);
  const std::vector<std::size_t> theirs = counterparts(loops, learners);
  std::string text;
  bool is_changed = false;
  for (std::uint32_t line = 1; line <= solution->source->num_lines(); ++line) {
    std::map<std::string, std::string> names;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (theirs[i] == SIZE_MAX || line < loops[i].first || line > loops[i].last) continue;
      const std::string& name = learners[theirs[i]].variable;
      if (name != loops[i].variable) names[loops[i].variable] = name;
    }
    is_changed |= !names.empty();
    text += renamed_line(solution->source->line(line), names) + "\n";
  }
  if (!is_changed) return solution;
  auto renamed = toy::assemble(std::make_shared<const toy::SourceText>("solution", text));
  return renamed ? std::make_shared<const toy::Program>(std::move(*renamed)) : solution;
}

}  // namespace flashlab::exercises
