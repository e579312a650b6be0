#include "cli/grading/class_text.hpp"

#include "cli/exercises/verdict_text.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {
using exercises::Histogram;

constexpr std::size_t kMostFindingBytes = 60;  // reports have the full text

/// The place and sentence of the first finding.
std::string first_finding(const exercises::Verdict& verdict) {
  if (verdict.findings.empty()) return {};
  const std::string line = exercises::finding_lines(verdict.findings.front()).front();
  return printable(visible_start(line, kMostFindingBytes));
}

std::string cost_cell(const exercises::Verdict& verdict, const std::string& key) {
  for (const exercises::CostLine& line : verdict.costs) {
    if (line.key == key) return grouped(line.value.get_str());
  }
  return {};
}

/// "; 3 with the proven best, 25 cycles at n = 4".
std::string proof_text(const exercises::ClassReport& report) {
  if (!report.proof) return {};
  const exercises::ProvenSize& proof = *report.proof;
  const std::string size = proof.size.empty() ? "" : " at " + exercises::to_string(proof.size);
  if (proof.verdict == exercises::ProofVerdict::kOptimal) {
    return "; " + std::to_string(report.with_proven_best()) + " with the proven best, " +
           grouped(proof.at_most_cycles.get_str()) + " cycles" + size;
  }
  return "; the best is between " + grouped(proof.at_least_cycles.get_str()) + " and " +
         grouped(proof.at_most_cycles.get_str()) + " cycles" + size;
}

std::string distance_cell(const exercises::ClassReport& report,
                          const exercises::StudentResult& student) {
  const exercises::SizeScore* score = report.proof_score(student);
  if (score == nullptr) return {};
  const auto distance = exercises::distance_of(*score);
  return distance ? distance->text() : "";
}

std::string summary(const exercises::ClassReport& report, const Terminal& terminal) {
  std::string text = std::to_string(report.students.size()) + " submissions, mean " +
                     exercises::points_text(report.mean_points()) + " of " +
                     exercises::points_text(report.max_points) + " points";
  for (const auto& [outcome, students] : report.outcomes()) {
    if (students == 0) continue;
    text += "; " + std::to_string(students) + " " + std::string(to_string(outcome));
  }
  text += proof_text(report);
  std::string lines;
  for (const std::string& line : wrap(text, terminal.width)) lines += line + "\n";
  return lines;
}

}  // namespace

std::string class_table(const exercises::ClassReport& report, const Terminal& terminal) {
  std::vector<Column> columns{
      {"student", Align::kLeft}, {"outcome", Align::kLeft}, {"points", Align::kRight}};
  for (const Histogram& one : report.histograms) columns.push_back({one.key, Align::kRight});
  if (report.proof) columns.push_back({"above best", Align::kRight});
  columns.push_back({"what was found", Align::kLeft});
  TextTable table(columns);
  for (const exercises::StudentResult& student : report.students) {
    const exercises::Verdict& verdict = *student.verdict;
    std::vector<std::string> cells{printable(student.name), outcome_text(verdict.outcome, terminal),
                                   exercises::points_text(verdict.points)};
    for (const Histogram& one : report.histograms) cells.push_back(cost_cell(verdict, one.key));
    if (report.proof) cells.push_back(distance_cell(report, student));
    cells.push_back(first_finding(verdict));
    table.row(std::move(cells));
  }
  return table.to_string(terminal) + "\n" + summary(report, terminal);
}

}  // namespace flashlab::cli
