#include "exercises/grader/explain/own_hint.hpp"

#include <algorithm>
#include <vector>

#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/submission/statement_lines.hpp"

namespace flashlab::exercises {
namespace {

/// The words of the line that another line has not at their places; all if it has more or fewer.
std::vector<std::string> changed_words(const std::vector<std::string>& line,
                                       const std::vector<std::string>& other) {
  if (line.size() != other.size()) return line;
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != other[i]) changed.push_back(line[i]);
  }
  return changed;
}

/// "`i` and `j`"
std::string listed_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + ("`" + words[i] + "`");
  }
  return text;
}

std::string changed_text(const std::vector<std::string>& mine,
                         const std::vector<std::string>& right, const std::string& at) {
  const std::vector<std::string> changed = changed_words(mine, right);
  if (changed.empty()) return {};
  const bool is_all = changed.size() == mine.size();
  return is_all ? "Another instruction belongs in " + at + "."
                : "In " + at + ", " + listed_words(changed) +
                      (changed.size() == 1 ? " is" : " are") + " not what belongs there.";
}

/// Which words of the guilty line a repair changes. `repaired`: the text of the repaired program.
std::string wrong_words_text(const toy::SourceText& mine, const std::string& repaired,
                             std::uint32_t line) {
  const toy::SourceText right("repaired", repaired);
  const std::string at = "line " + std::to_string(line);
  const StatementLines here(mine), there(right);
  const std::uint32_t below = here.next(line, 1);
  if (!here.words(line).empty() && mine.num_lines() == right.num_lines() &&
      here.words(line) == there.words(below) && here.words(below) == there.words(line)) {
    return "Exchange line " + std::to_string(line) + " and line " + std::to_string(below) + ".";
  }
  const auto differences = line_differences(mine, right);
  if (!differences) return {};
  for (const LineDifference& one : *differences) {
    if (one.mine.empty() && (one.above == line || one.below == line)) {
      return "A line is missing beside " + at + ".";
    }
    const auto found = std::find(one.mine.begin(), one.mine.end(), line);
    if (found == one.mine.end()) continue;
    if (one.other.empty()) return "Leave out " + at + ".";
    const auto place = static_cast<std::size_t>(found - one.mine.begin());
    return changed_text(here.words(line),
                        there.words(one.other[std::min(place, one.other.size() - 1)]), at);
  }
  return {};
}

}  // namespace

std::string own_hint(const Verdict& verdict, const toy::SourceText& submission, std::size_t level) {
  if (verdict.passed() || verdict.findings.empty()) return {};
  if (level == 1) return verdict.findings.front().what + ".";
  const auto placed = std::find_if(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& one) { return one.line > 0; });
  if (placed == verdict.findings.end()) return {};
  const Finding& finding = *placed;
  if (level == 2) {
    return "Look at line " + std::to_string(finding.line) +
           (finding.step == 0 ? "" : ", step " + std::to_string(finding.step)) + ".";
  }
  for (const Claim& claim : finding.claims) {
    if (level == 3 && claim.kind == Claim::Kind::kRight) {
      return wrong_words_text(submission, claim.text, claim.line);
    }
  }
  return {};
}

}  // namespace flashlab::exercises
