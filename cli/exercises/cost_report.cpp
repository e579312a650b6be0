#include "cli/exercises/cost_report.hpp"

#include <algorithm>

#include "cli/exercises/learner.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using exercises::CostLine;
using exercises::RankedTraffic;
using exercises::Verdict;

std::string lines_of(const std::string& text, const Terminal& terminal) {
  std::string lines;
  for (const std::string& line : wrap(text, terminal.width - 2)) lines += "  " + line + "\n";
  return lines;
}

/// The proven best at the size at which costs are counted. Empty if only bounds are known.
std::string proven_best(const Verdict& verdict, const CostLine& line) {
  if (line.key != "cycles" || verdict.scores.empty()) return {};
  const exercises::SizeScore& score = verdict.scores.back();
  if (!score.is_searched() || score.proof->at_least_cycles != score.proof->at_most_cycles)
    return {};
  return grouped(score.proof->at_most_cycles.get_str());
}

std::string brief_table(const Verdict& verdict, const Terminal& terminal) {
  const std::string size = exercises::to_string(verdict.size);
  const bool has_best =
      std::any_of(verdict.costs.begin(), verdict.costs.end(),
                  [&](const CostLine& line) { return !proven_best(verdict, line).empty(); });
  std::vector<Column> columns{{size.empty() ? "cost" : "at " + size, Align::kLeft},
                              {"yours", Align::kRight},
                              {"full marks", Align::kRight},
                              {"no points", Align::kRight}};
  if (has_best) columns.push_back({"proven best", Align::kRight});
  TextTable table(columns);
  for (const CostLine& line : verdict.costs) {
    const std::string yours = grouped(line.value.get_str());
    std::vector<std::string> cells{line.key,
                                   line.is_dear() ? styled(yours, Style::kYellow, terminal) : yours,
                                   grouped(line.full.get_str()), grouped(line.naive.get_str())};
    if (has_best) cells.push_back(proven_best(verdict, line));
    table.row(std::move(cells));
  }
  return table.to_string(terminal);
}

/// "The cost earns 1 of 4 points: all at full marks, none at the cost of a naive program." Of the
/// cheapest program, says that it is proved to be that.
std::string points_sentence(const exercises::Exercise& exercise, const Verdict& verdict) {
  if (!verdict.scores.empty() && verdict.scores.back().is_best()) {
    return grouped(verdict.scores.back().cycles.get_str()) +
           " cycles: proved to be the best there is.";
  }
  const exercises::ProgramTask& task = exercise.program;
  if (task.speed) {
    return "The time earns " + exercises::points_text(verdict.checks.back().points) + " of " +
           points_text(task.speed->points) + ": all if it is at most that of " +
           printable(task.speed->given->source->name()) + ", none at twice that time.";
  }
  const double earned = exercises::added_points(verdict.points, -task.points.correct);
  const std::string none = task.cost.naive != nullptr ? "none at the cost of the naive program"
                                                      : "none at twice that cost";
  return "The cost earns " + exercises::points_text(earned) + " of " +
         points_text(task.points.cost) + ": all at full marks, " + none + ".";
}

/// The parameters that have the same value at all sizes.
exercises::Size common_part(const std::vector<exercises::Size>& sizes) {
  exercises::Size common = sizes.front();
  for (const exercises::Size& size : sizes) {
    std::erase_if(common, [&](const auto& entry) { return size.at(entry.first) != entry.second; });
  }
  return common;
}

exercises::Size without(exercises::Size size, const exercises::Size& left_out) {
  std::erase_if(size, [&](const auto& entry) { return left_out.contains(entry.first); });
  return size;
}

/// "d=73 n=2764": short, so that a table of sizes fits 80 columns.
std::string brief(const exercises::Size& size) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : size) parts.push_back(name + "=" + std::to_string(value));
  return joined(parts, " ");
}

std::string name_of(const RankedTraffic& traffic) {
  return traffic.name.empty() ? "yours" : traffic.name;
}

/// "You move fewer bytes than flash1 and flash2."
std::string place_sentence(const exercises::Ranking& ranking) {
  std::vector<std::string> above, equal, below;
  const auto mine = std::find_if(ranking.programs.begin(), ranking.programs.end(),
                                 [](const RankedTraffic& traffic) { return traffic.name.empty(); });
  for (const RankedTraffic& traffic : ranking.programs) {
    if (traffic.name.empty()) continue;
    const bool more = &traffic < &*mine;
    (traffic.bytes == mine->bytes ? equal : more ? above : below).push_back(traffic.name);
  }
  std::vector<std::string> parts;
  if (!above.empty()) parts.push_back("fewer bytes than " + joined(above, " and "));
  if (!equal.empty()) parts.push_back("as many as " + joined(equal, " and "));
  if (!below.empty()) parts.push_back("more than " + joined(below, " and "));
  const std::string place =
      parts.empty() ? "" : "You move " + joined(parts) + " between DRAM and registers. ";
  return place +
         "No program is below the lower bound: each input is read once, each result is written "
         "once.";
}

}  // namespace

std::string ranking_text(const Verdict& verdict, const Terminal& terminal) {
  if (!verdict.ranking) return {};
  const exercises::Ranking& ranking = *verdict.ranking;
  const exercises::Size common = common_part(ranking.sizes);
  std::vector<Column> columns{
      {common.empty() ? "DRAM bytes" : "bytes, " + brief(common), Align::kLeft}};
  for (const RankedTraffic& traffic : ranking.programs) {
    columns.push_back({printable(name_of(traffic)), Align::kRight});
  }
  columns.push_back({"lower bound", Align::kRight});
  TextTable table(columns);
  for (std::size_t i = 0; i < ranking.sizes.size(); ++i) {
    std::vector<std::string> cells{brief(without(ranking.sizes[i], common))};
    for (const RankedTraffic& traffic : ranking.programs) {
      const std::string bytes = grouped(traffic.bytes[i].get_str());
      cells.push_back(traffic.name.empty() ? styled(bytes, Style::kBold, terminal) : bytes);
    }
    cells.push_back(grouped(ranking.lower_bound[i].get_str()));
    table.row(std::move(cells));
  }
  return table.to_string(terminal) + lines_of(place_sentence(ranking), terminal);
}

std::string cost_report(const exercises::Exercise& exercise, const Verdict& verdict,
                        const Terminal& terminal) {
  if (verdict.costs.empty()) return {};
  const bool is_about_bytes = verdict.ranking && !exercise.program.speed;
  const std::string table =
      is_about_bytes ? ranking_text(verdict, terminal) : brief_table(verdict, terminal);
  if (!verdict.passed()) return table;
  return table + lines_of(points_sentence(exercise, verdict), terminal);
}

}  // namespace flashlab::cli
