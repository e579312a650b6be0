#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/lists.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// Whether a spreadsheet may interpret the cell as a formula. Some accept the full-width forms of +
/// - = and @ as well.
bool is_computed(const std::string& text) {
  constexpr std::string_view kSigns = "=+-@\t\r\n";
  if (!text.empty() && kSigns.find(text[0]) != std::string_view::npos) return true;
  const auto begins = [&](const char* sign) { return text.starts_with(sign); };
  return begins("\xEF\xBC\x9D") || begins("\xEF\xBC\x8B") || begins("\xEF\xBC\x8D") ||
         begins("\xEF\xBC\xA0");
}

std::string cost_cell(const Verdict& verdict, const std::string& key) {
  for (const CostLine& line : verdict.costs) {
    if (line.key == key) return line.value.get_str();
  }
  return {};
}

/// Writes the order's minimum cost and the avoidable loads, or empty cells if they are unknown.
void write_order_cells(std::ostream& out, const Verdict& verdict) {
  const bool is_known = !verdict.scores.empty() && verdict.scores.back().order;
  out << ',';
  if (is_known) out << verdict.scores.back().order->cycles.get_str();
  out << ',';
  if (is_known) out << avoidable_loads(verdict).get_str();
}

void write_proof_cells(std::ostream& out, const SizeScore* score) {
  const std::optional<Distance> distance = score == nullptr ? std::nullopt : distance_of(*score);
  out << ',';
  if (score != nullptr) out << score->cycles.get_str();
  out << ',';
  if (distance) out << distance->least.get_str();
  out << ',';
  if (distance) out << distance->most.get_str();
}

}  // namespace

std::string spreadsheet_cell(const std::string& text) {
  return csv_cell((is_computed(text) ? "'" : "") + text);
}

void write_csv(std::ostream& out, const ClassReport& report) {
  const std::vector<std::string> counters = report.counters();
  out << "name,outcome,points,max_points";
  for (const std::string& key : counters) out << ',' << spreadsheet_cell(key);
  if (report.has_load_lines()) out << ",order_cycles,avoidable_loads";
  if (report.proof) out << ",cycles_in_proof,above_best_at_least,above_best_at_most";
  out << ",line,finding" << kLineEnd;
  for (const StudentResult& student : report.students) {
    const Verdict& verdict = *student.verdict;
    out << spreadsheet_cell(student.name) << ',' << outcome_key(verdict.outcome) << ','
        << points_text(verdict.points) << ',' << points_text(verdict.max_points);
    for (const std::string& key : counters) out << ',' << cost_cell(verdict, key);
    if (report.has_load_lines()) write_order_cells(out, verdict);
    if (report.proof) write_proof_cells(out, report.proof_score(student));
    const Finding first = verdict.findings.empty() ? Finding{} : verdict.findings.front();
    out << ',' << (first.line > 0 ? std::to_string(first.line) : "") << ','
        << spreadsheet_cell(first.what) << kLineEnd;
  }
  const std::size_t empty_cells =
      counters.size() + (report.has_load_lines() ? 2 : 0) + (report.proof ? 3 : 0);
  for (const StudentResult& entry : report.skipped) {
    out << spreadsheet_cell(entry.name) << ",skipped,," << points_text(report.max_points)
        << std::string(empty_cells, ',') << ",," << spreadsheet_cell(why_skipped(entry))
        << kLineEnd;
  }
}

}  // namespace flashlab::exercises
