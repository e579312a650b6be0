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
  std::string cell = is_computed(text) ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') cell += c;
    cell += c;
  }
  return cell + '"';
}

void write_csv(std::ostream& out, const ClassReport& report) {
  std::vector<std::string> columns{"name", "outcome", "points", "max_points"};
  columns.insert(columns.end(), report.cost_keys.begin(), report.cost_keys.end());
  if (report.has_orders) columns.insert(columns.end(), {"order_cycles", "avoidable_loads"});
  if (report.proof) {
    columns.insert(columns.end(), {"cycles_in_proof", "above_best_at_least", "above_best_at_most"});
  }
  columns.insert(columns.end(), {"line", "finding", "seed"});
  out << joined(columns, ",", spreadsheet_cell) << kLineEnd;
  const std::string end = "," + (report.seed.empty() ? "" : spreadsheet_cell(report.seed));
  for (const StudentResult& student : report.students) {
    const Verdict& verdict = *student.verdict;
    out << spreadsheet_cell(student.name) << ','
        << spreadsheet_cell(std::string(outcome_key(verdict.outcome))) << ','
        << points_text(verdict.points) << ',' << points_text(verdict.max_points);
    for (const std::string& key : report.cost_keys) out << ',' << cost_cell(verdict, key);
    if (report.has_orders) write_order_cells(out, verdict);
    if (report.proof) write_proof_cells(out, report.proof_score(student));
    const Finding first = verdict.findings.empty() ? Finding{} : verdict.findings.front();
    out << ',' << (first.line > 0 ? std::to_string(first.line) : "") << ','
        << spreadsheet_cell(first.what) << end << kLineEnd;
  }
  const std::size_t empty_cells =
      report.cost_keys.size() + (report.has_orders ? 2 : 0) + (report.proof ? 3 : 0);
  for (const StudentResult& entry : report.skipped) {
    out << spreadsheet_cell(entry.name) << ",\"skipped\",," << points_text(report.max_points)
        << std::string(empty_cells, ',') << ",," << spreadsheet_cell(why_skipped(entry)) << end
        << kLineEnd;
  }
}

}  // namespace flashlab::exercises
