#include "cli/exercises/verdict_text.hpp"

#include <algorithm>
#include <utility>

#include "cli/exercises/cost_report.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/judge/records.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using exercises::Check;
using exercises::CostLine;
using exercises::Finding;
using exercises::LoadLine;
using exercises::Outcome;
using exercises::SizeScore;
using exercises::Verdict;

constexpr std::size_t kVerdictIndent = 2;
constexpr std::size_t kMostLoadLines = 5;  // JSON lists all

std::string indented(const std::string& text, std::size_t columns, const Terminal& terminal) {
  std::string result;
  for (const std::string& line : wrap(text, terminal.width - columns)) {
    result += std::string(columns, ' ') + line + "\n";
  }
  return result;
}

/// Leaves the detail unchanged if it fits; otherwise wraps it below its first word.
std::string detail_text(const std::string& detail, const Terminal& terminal) {
  const std::string shown = printable(detail);
  if (2 * kVerdictIndent + display_width(shown) <= terminal.width) {
    return std::string(2 * kVerdictIndent, ' ') + shown + "\n";
  }
  const std::string words = shown.substr(std::min(shown.find_first_not_of(' '), shown.size()));
  return indented(words, 3 * kVerdictIndent, terminal).erase(0, kVerdictIndent);
}

std::string finding_text(const Finding& finding, const Terminal& terminal) {
  const std::string place = exercises::finding_place(finding);
  const std::string what = printable(finding.what);
  std::string text =
      indented(place.empty() ? what : printable(place) + ": " + what, kVerdictIndent, terminal);
  for (const std::string& detail : finding.details) text += detail_text(detail, terminal);
  return text;
}

/// Returns whether a finding has the message, or (as those about answers) the name and the message.
bool is_said(const Check& check, const Verdict& verdict) {
  const std::string named = check.name + ": " + check.message;
  return std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
    return finding.what == check.message || finding.what == named;
  });
}

/// The failed checks that add to the findings and costs.
std::string failed_checks(const Verdict& verdict, const Terminal& terminal) {
  std::string text;
  if (!verdict.costs.empty() || verdict.findings.size() == 1) return text;
  for (const Check& check : verdict.checks) {
    if (check.passed || check.message.empty() || is_said(check, verdict)) continue;
    if (check.message == exercises::kNotRun || check.message == exercises::kNotCounted) continue;
    text += indented(printable(check.name + ": " + check.message), kVerdictIndent, terminal);
  }
  return text;
}

/// The proved values of a counter at the size at which costs are counted: the best, the floor.
std::pair<std::string, std::string> proved_about(const Verdict& verdict,
                                                 const std::string& counter) {
  if (verdict.scores.empty() || !verdict.scores.back().proof) return {};
  const SizeScore& score = verdict.scores.back();
  if (counter == "cycles") {
    return {exercises::proven_text(score), score.proof->floor_cycles.get_str()};
  }
  return {"", counter == "loads" ? score.proof->floor_loads.get_str() : ""};
}

/// One row per counter, with the columns that have values.
std::string cost_table(const Verdict& verdict, const exercises::Costs& best_ever,
                       const Terminal& terminal) {
  const std::string size = exercises::to_string(verdict.size);
  bool has_best = false, has_floor = false, hidden = false;
  for (const CostLine& line : verdict.costs) {
    const auto [best, floor] = proved_about(verdict, line.key);
    has_best = has_best || !best.empty();
    has_floor = has_floor || !floor.empty();
  }
  std::vector<Column> columns{{size.empty() ? "cost" : "at " + size, Align::kLeft},
                              {"yours", Align::kRight},
                              {"full marks", Align::kRight},
                              {"solution", Align::kRight}};
  if (!best_ever.empty()) columns.push_back({"best ever", Align::kRight});
  if (has_best) columns.push_back({"proven best", Align::kRight});
  if (has_floor) columns.push_back({"floor", Align::kRight});
  TextTable table(columns);
  for (const CostLine& line : verdict.costs) {
    const bool dear = line.is_dear();
    hidden = hidden || (dear && line.value <= line.full);
    const std::string yours = grouped(line.value.get_str()) + (dear ? " *" : "");
    std::vector<std::string> cells{line.key, dear ? styled(yours, Style::kYellow, terminal) : yours,
                                   grouped(line.full.get_str()),
                                   line.solution > 0 ? grouped(line.solution.get_str()) : ""};
    if (!best_ever.empty()) {
      const auto best = best_ever.find(line.key);
      cells.push_back(best == best_ever.end() ? "" : grouped(best->second.get_str()));
    }
    const auto [best, floor] = proved_about(verdict, line.key);
    if (has_best) cells.push_back(best);
    if (has_floor) cells.push_back(grouped(floor));
    table.row(std::move(cells));
  }
  std::string text = table.to_string(terminal);
  if (verdict.outcome == Outcome::kCostly || verdict.outcome == Outcome::kTooCostly) {
    text += hidden ? "  * more than full marks allow, here or at another size\n"
                   : "  * more than full marks allow\n";
  }
  if (has_floor) {
    text += indented("floor: what must be loaded and stored at least; no program is below it",
                     kVerdictIndent, terminal);
  }
  return text;
}

/// The searched sizes that are smaller than the size at which costs are counted.
std::string smaller_sizes(const Verdict& verdict, const Terminal& terminal) {
  TextTable table({{"cycles", Align::kLeft},
                   {"yours", Align::kRight},
                   {"your order allows", Align::kRight},
                   {"proven best", Align::kRight},
                   {"floor", Align::kRight}});
  for (const SizeScore& score : verdict.scores) {
    if (score.size == verdict.size || !score.is_searched()) continue;
    table.row({"at " + exercises::to_string(score.size), grouped(score.cycles.get_str()),
               score.order ? grouped(score.order->cycles.get_str()) : "",
               exercises::proven_text(score), grouped(score.proof->floor_cycles.get_str())});
  }
  return table.empty() ? "" : "\n" + table.to_string(terminal);
}

/// Says that loads are not what costs points, where full marks allow avoidable ones: a program with
/// loops may need them. Otherwise they would seem to be the reason.
std::string allowed_anyway(const Verdict& verdict) {
  for (const CostLine& line : verdict.costs) {
    if (line.key != "loads" || line.is_dear()) continue;
    return " Full marks allow these " + grouped(line.value.get_str()) +
           " loads, and ask for nothing to be saved here.";
  }
  return "";
}

/// The lines with avoidable loads, sorted by their number, largest first.
std::string load_table(const Verdict& verdict, const Terminal& terminal) {
  std::vector<LoadLine> lines;
  for (const LoadLine& line : verdict.loads) {
    if (line.avoidable > 0) lines.push_back(line);
  }
  if (lines.empty()) return {};
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LoadLine& a, const LoadLine& b) { return a.avoidable > b.avoidable; });
  TextTable table({{"line", Align::kRight},
                   {"compulsory", Align::kRight},
                   {"forced", Align::kRight},
                   {"avoidable", Align::kRight},
                   {"because", Align::kLeft}});
  const std::size_t shown = std::min(lines.size(), kMostLoadLines);
  for (std::size_t i = 0; i < shown; ++i) {
    const LoadLine& line = lines[i];
    table.row({std::to_string(line.line), grouped(line.compulsory.get_str()),
               grouped(line.forced.get_str()), grouped(line.avoidable.get_str()),
               printable(line.why)});
  }
  const std::string loads =
      "Loads: " + exercises::loads_text(verdict) + "." + allowed_anyway(verdict);
  std::string text =
      "\n" + indented(loads, kVerdictIndent, terminal) + "\n" + table.to_string(terminal);
  const std::size_t rest = lines.size() - shown;
  if (rest > 0) {
    text += "  and " + std::to_string(rest) + (rest == 1 ? " more line\n" : " more lines\n");
  }
  return text;
}

std::string score_text(const Verdict& verdict, const Terminal& terminal) {
  std::string sentences;
  for (const std::string& one : exercises::score_sentences(verdict)) {
    sentences += indented(printable(one), kVerdictIndent, terminal);
  }
  return smaller_sizes(verdict, terminal) + (sentences.empty() ? "" : "\n" + sentences) +
         load_table(verdict, terminal);
}

/// "+ full marks: 10 of 10 points", and below it what is better than the solution or full marks.
std::string points_line(const Verdict& verdict, const Terminal& terminal) {
  const std::string record = exercises::record_sentence(verdict);
  std::string text = outcome_text(verdict.outcome, terminal) + ": " +
                     exercises::points_text(verdict.points) + " of " +
                     exercises::points_text(verdict.max_points) + " points\n";
  if (record.empty()) return text;
  for (const std::string& line : wrap(printable(record), terminal.width - kVerdictIndent)) {
    text += std::string(kVerdictIndent, ' ') + styled(line, Style::kGreen, terminal) + "\n";
  }
  return text;
}

}  // namespace

std::string outcome_text(Outcome outcome, const Terminal& terminal) {
  const bool good = passes(outcome);
  const bool partial = outcome == Outcome::kPartial;
  const char* sign = terminal.unicode ? (good      ? "✓ "
                                         : partial ? "◐ "
                                                   : "✗ ")
                                      : (good      ? "+ "
                                         : partial ? "~ "
                                                   : "x ");
  const Style style = outcome == Outcome::kFull ? Style::kGreen
                      : good || partial         ? Style::kYellow
                                                : Style::kRed;
  return styled(sign + std::string(to_string(outcome)), style, terminal);
}

bool has_more_to_explain(const Verdict& verdict) {
  return verdict.passed() && (verdict.findings.size() > 1 || !verdict.scores.empty());
}

std::string brief_verdict_text(const exercises::Exercise& exercise, const Verdict& verdict,
                               const Terminal& terminal) {
  if (!verdict.passed() || verdict.costs.empty()) return verdict_text(verdict, {}, terminal);
  std::string text = points_line(verdict, terminal);
  if (!verdict.findings.empty()) text += "\n" + finding_text(verdict.findings.front(), terminal);
  return text + "\n" + cost_report(exercise, verdict, terminal);
}

std::string verdict_text(const Verdict& verdict, const exercises::Costs& best_ever,
                         const Terminal& terminal) {
  std::string text = points_line(verdict, terminal);
  for (const Finding& finding : verdict.findings) text += "\n" + finding_text(finding, terminal);
  if (const std::string checks = failed_checks(verdict, terminal); !checks.empty()) {
    text += "\n" + checks;
  }
  if (!verdict.costs.empty()) text += "\n" + cost_table(verdict, best_ever, terminal);
  if (verdict.ranking) text += "\n" + ranking_text(verdict, terminal);
  if (verdict.passed()) text += score_text(verdict, terminal);
  return text;
}

std::string next_step(const exercises::Exercise& exercise, const Verdict& verdict) {
  const std::string hint = "`flashlab hint " + exercise.id + "`";
  switch (verdict.outcome) {
    case Outcome::kFull:
      return "Next: `flashlab exercises list` shows the next exercise.";
    case Outcome::kCostly:
      return "Next: save cycles or loads until the costs reach full marks; " + hint + " helps.";
    case Outcome::kTooCostly:
      return "Next: save what is named above until the cost is accepted; " + hint + " helps.";
    case Outcome::kPartial:
    case Outcome::kWrong:
      return "Next: change what is named above and try again; " + hint + " helps.";
    case Outcome::kRejected:
      return "Next: fix the errors above; `flashlab show " + exercise.id + "` shows the task.";
    case Outcome::kLimit:
      return "Next: make it smaller or shorter; " + hint + " helps.";
    case Outcome::kUnreadable:
      return "Next: hand in one regular text file called " + exercise.work_file() + ".";
    case Outcome::kCrashed:
      return "Next: report it, with the file: no program may crash the grader.";
  }
  return {};
}

}  // namespace flashlab::cli
