#include <algorithm>

#include "exercises/grader/judge/records.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "report_page_files.hpp"
#include "text/lists.hpp"
#include "text/markup.hpp"
#include "text/page.hpp"
#include "text/sha256.hpp"

namespace flashlab::exercises {
namespace {

/// Uses a sign and words, so that colour is not needed.
std::string outcome_text(Outcome outcome) {
  const bool good = passes(outcome);
  return std::string("<span class=\"") + (good ? "good" : "bad") + "\">" +
         (good                           ? "✓ "
          : outcome == Outcome::kPartial ? "◐ "
                                         : "✗ ") +
         std::string(to_string(outcome)) + "</span>";
}

void write_facts(std::ostream& out, const ClassReport& report) {
  out << markup_text(report.exercise_id) << " · " << report.students.size() << " submissions, "
      << report.passed() << " right · mean " << points_text(report.mean_points()) << " of "
      << points_text(report.max_points) << " points";
  if (!report.proof) return;
  const ProvenSize& proof = *report.proof;
  const std::string size = proof.size.empty() ? "" : " at " + to_string(proof.size);
  if (proof.verdict == ProofVerdict::kOptimal) {
    out << " · " << report.with_proven_best() << " with the proven best, "
        << proof.at_most_cycles.get_str() << " cycles" << markup_text(size);
  } else {
    out << " · the best is between " << proof.at_least_cycles.get_str() << " and "
        << proof.at_most_cycles.get_str() << " cycles" << markup_text(size);
  }
}

void write_outcomes(std::ostream& out, const ClassReport& report) {
  for (const auto& [outcome, students] : report.outcomes()) {
    if (students == 0) continue;
    out << "      <tr><td>" << outcome_text(outcome) << "</td><td>" << students << "</td></tr>\n";
  }
}

void write_columns(std::ostream& out, const ClassReport& report) {
  out << "<th scope=\"col\">name</th><th scope=\"col\">outcome</th>"
         "<th scope=\"col\" class=\"number\">points</th>";
  for (const std::string& key : report.counters()) {
    out << "<th scope=\"col\" class=\"number\">" << markup_text(key) << "</th>";
  }
  if (report.proof) {
    const std::string size =
        report.proof->size.empty() ? "" : " at " + to_string(report.proof->size);
    out << "<th scope=\"col\" class=\"number\" title=\"cycles above the proven best"
        << markup_text(size) << "\">above best</th>";
  }
  out << "<th scope=\"col\">what was found</th>";
}

/// Findings, and for a right program what its order allows.
std::vector<std::string> lines_of(const Verdict& verdict) {
  std::vector<std::string> all;
  for (const Finding& finding : verdict.findings) {
    const std::vector<std::string> lines = finding_lines(finding);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  if (!verdict.passed()) return all;
  if (std::string record = record_sentence(verdict); !record.empty()) all.push_back(record);
  for (const std::string& one : score_sentences(verdict)) all.push_back(one);
  for (const LoadLine& line : verdict.loads) {
    if (line.avoidable == 0) continue;
    all.push_back("line " + std::to_string(line.line) + ", avoidable loads " +
                  line.avoidable.get_str() + ": " + line.why);
  }
  return all;
}

void write_findings(std::ostream& out, const Verdict& verdict) {
  const std::vector<std::string> lines = lines_of(verdict);
  if (lines.empty()) return;
  if (lines.size() == 1) {
    out << markup_text(lines.front());
    return;
  }
  const bool is_found = !verdict.findings.empty();  // otherwise all lines are about scores
  out << "<details><summary>"
      << (is_found ? markup_text(lines.front()) : std::string("what the order allows"))
      << "</summary><pre>";
  for (std::size_t i = is_found ? 1 : 0; i < lines.size(); ++i)
    out << markup_text(lines[i]) << '\n';
  out << "</pre></details>";
}

/// Sorts by the minimum distance. Programs without a distance come last.
void write_distance(std::ostream& out, const SizeScore* score) {
  const std::optional<Distance> distance = score == nullptr ? std::nullopt : distance_of(*score);
  out << "<td class=\"number\"";
  if (!distance) {
    out << "></td>";
    return;
  }
  out << " data-value=\"" << distance->least.get_str() << "\">";
  const bool is_best = score->is_best();
  out << (is_best ? "<span class=\"good\">✓ 0</span>" : markup_text(distance->text())) << "</td>";
}

void write_student(std::ostream& out, const ClassReport& report,
                   const std::vector<std::string>& counters, const StudentResult& student) {
  const Verdict& verdict = *student.verdict;
  out << "<tr><th scope=\"row\">" << markup_text(student.name)
      << "</th><td class=\"outcome\" data-value=\"" << static_cast<int>(verdict.outcome) << "\">"
      << outcome_text(verdict.outcome) << "</td><td class=\"number\" data-value=\""
      << points_text(verdict.points) << "\">" << points_text(verdict.points) << "</td>";
  for (const std::string& key : counters) {
    const auto line = std::find_if(verdict.costs.begin(), verdict.costs.end(),
                                   [&](const CostLine& cost) { return cost.key == key; });
    out << "<td class=\"number\">" << (line == verdict.costs.end() ? "" : line->value.get_str())
        << "</td>";
  }
  if (report.proof) write_distance(out, report.proof_score(student));
  out << "<td class=\"findings\">";
  write_findings(out, verdict);
  out << "</td></tr>\n";
}

void write_skipped_row(std::ostream& out, const ClassReport& report, std::size_t num_counters,
                       const StudentResult& entry) {
  constexpr std::size_t kAfterOutcomes = 8;
  out << "<tr><th scope=\"row\">" << markup_text(entry.name)
      << "</th><td class=\"outcome\" data-value=\"" << kAfterOutcomes
      << "\">– skipped</td><td class=\"number\"></td>";
  for (std::size_t i = 0; i < num_counters + (report.proof ? 1 : 0); ++i) {
    out << "<td class=\"number\"></td>";
  }
  out << "<td class=\"findings\">" << markup_text(why_skipped(entry)) << "</td></tr>\n";
}

void write_isolation(std::ostream& out, const ClassReport& report) {
  if (report.isolation.empty()) return;
  out << "<footer><p class=\"note\">Isolation: " << markup_text(report.isolation)
      << ".</p></footer>\n";
}

PageParts parts_of(const ClassReport& report) {
  const std::string style =
      page_style(std::string(file_text(report_page_files, "grades.css")) + histogram_style());
  const std::string_view script = file_text(report_page_files, "grades.js");
  return {{"title", [&](std::ostream& out) { out << markup_text(report.exercise_title); }},
          {"style", [style](std::ostream& out) { out << style; }},
          {"script", [script](std::ostream& out) { out << script; }},
          {"style hash", [style](std::ostream& out) { out << base64(sha256(style)); }},
          {"script hash", [script](std::ostream& out) { out << base64(sha256(script)); }},
          {"facts", [&](std::ostream& out) { write_facts(out, report); }},
          {"outcomes", [&](std::ostream& out) { write_outcomes(out, report); }},
          {"histograms",
           [&](std::ostream& out) {
             for (const Histogram& histogram : report.histograms) write_histogram(out, histogram);
             if (report.proof_histogram) write_histogram(out, *report.proof_histogram);
           }},
          {"isolation", [&](std::ostream& out) { write_isolation(out, report); }},
          {"columns", [&](std::ostream& out) { write_columns(out, report); }},
          {"students", [&](std::ostream& out) {
             const std::vector<std::string> counters = report.counters();
             for (const StudentResult& student : report.students)
               write_student(out, report, counters, student);
             for (const StudentResult& entry : report.skipped)
               write_skipped_row(out, report, counters.size(), entry);
           }}};
}

}  // namespace

void write_html(std::ostream& out, const ClassReport& report) {
  write_page(out, file_text(report_page_files, "grades.html"), parts_of(report));
}

}  // namespace flashlab::exercises
