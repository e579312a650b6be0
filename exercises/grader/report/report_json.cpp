#include <nlohmann/json.hpp>

#include "exercises/grader/exercise/score_json.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/records.hpp"
#include "exercises/grader/report/reports.hpp"
#include "toymachine/count/count_json.hpp"

namespace flashlab::exercises {
namespace {

Json costs_json(const Verdict& verdict) {
  Json all = Json::object();
  for (const CostLine& line : verdict.costs) {
    all[line.key] = {{"value", toy::count_json(line.value)},
                     {"full", toy::count_json(line.full)},
                     {"solution", toy::count_json(line.solution)}};
  }
  return all;
}

Json checks_json(const Verdict& verdict) {
  Json all = Json::array();
  for (const Check& check : verdict.checks) {
    all.push_back({{"name", check.name},
                   {"passed", check.passed},
                   {"points", check.points},
                   {"max_points", check.max_points},
                   {"message", check.message}});
  }
  return all;
}

Json findings_json(const Verdict& verdict) {
  Json all = Json::array();
  for (const Finding& finding : verdict.findings) {
    Json one = {{"what", finding.what}};
    if (finding.line > 0) one["line"] = finding.line;
    if (finding.step > 0) one["step"] = toy::count_json(toy::Count(finding.step));
    if (!finding.inputs.empty()) one["inputs"] = finding.inputs;
    one["details"] = finding.details;
    all.push_back(std::move(one));
  }
  return all;
}

Json student_json(const StudentResult& student) {
  const Verdict& verdict = *student.verdict;
  Json one = {{"name", student.name},
              {"outcome", outcome_key(verdict.outcome)},
              {"passed", verdict.passed()},
              {"points", verdict.points},
              {"max_points", verdict.max_points},
              {"checks", checks_json(verdict)},
              {"findings", findings_json(verdict)},
              {"costs", costs_json(verdict)},
              {"size", size_json(verdict.size)},
              {"scores", scores_json(verdict)},
              {"load_lines", load_lines_json(verdict)}};
  if (std::string record = record_sentence(verdict); !record.empty()) {
    one["record"] = std::move(record);
  }
  if (!verdict.order_unknown.empty()) one["order_unknown"] = verdict.order_unknown;
  if (!student.notes.empty()) one["notes"] = student.notes;
  return one;
}

Json histogram_json(const Histogram& histogram) {
  Json bins = Json::array(), marks = Json::array();
  for (const HistogramBin& bin : histogram.bins) {
    bins.push_back({{"low", toy::count_json(bin.low)},
                    {"high", toy::count_json(bin.high)},
                    {"open", bin.open},
                    {"students", bin.students}});
  }
  for (const HistogramMark& mark : histogram.marks) {
    marks.push_back({{"name", mark.name}, {"value", toy::count_json(mark.value)}});
  }
  return {{"counter", histogram.key}, {"size", histogram.size}, {"bins", bins}, {"marks", marks}};
}

/// The largest searched size, and how many students reached the proven best there.
Json proof_json(const ClassReport& report) {
  Json one = {{"size", size_json(report.proof->size)},
              {"verdict", to_string(report.proof->verdict)},
              {"allowed", report.proof->allowed},
              {"floor_cycles", toy::count_json(report.proof->floor_cycles)},
              {"at_least_cycles", toy::count_json(report.proof->at_least_cycles)},
              {"at_most_cycles", toy::count_json(report.proof->at_most_cycles)},
              {"students_with_the_best", report.with_proven_best()}};
  if (report.proof_histogram) one["histogram"] = histogram_json(*report.proof_histogram);
  return one;
}

Json summary_json(const ClassReport& report) {
  Json outcomes = Json::object();
  for (const auto& [outcome, students] : report.outcomes()) {
    outcomes[std::string(outcome_key(outcome))] = students;
  }
  Json best = Json::object();
  for (const auto& [key, value] : report.best_ever) best[key] = toy::count_json(value);
  Json histograms = Json::array();
  for (const Histogram& one : report.histograms) histograms.push_back(histogram_json(one));
  Json summary = {{"students", report.students.size()},
                  {"passed", report.passed()},
                  {"outcomes", outcomes},
                  {"mean_points", report.mean_points()},
                  {"max_points", report.max_points},
                  {"best_ever", best},
                  {"histograms", histograms}};
  if (report.proof) summary["proof"] = proof_json(report);
  if (!report.isolation.empty()) summary["isolation"] = report.isolation;
  return summary;
}

Json skipped_json(const ClassReport& report) {
  Json all = Json::array();
  for (const StudentResult& entry : report.skipped) {
    all.push_back({{"name", entry.name}, {"why", why_skipped(entry)}});
  }
  return all;
}

}  // namespace

void write_json(std::ostream& out, const ClassReport& report) {
  const Json exercise = {{"id", report.exercise_id}, {"title", report.exercise_title}};
  out << "{\n\"format\": \"flashlab-grades\",\n\"version\": " << kReportVersion
      << ",\n\"command\": \"flashlab grade\",\n";
  if (!report.seed.empty()) out << "\"seed\": " << dumped(report.seed) << ",\n";
  out << "\"exercise\": " << dumped(exercise) << ",\n\"summary\": " << dumped(summary_json(report))
      << ",\n\"students\": [";
  bool first = true;
  for (const StudentResult& student : report.students) {  // one at a time: a class may be large
    out << (first ? "\n" : ",\n") << dumped(student_json(student));
    first = false;
  }
  out << (first ? "]" : "\n]") << ",\n\"skipped\": " << dumped(skipped_json(report)) << "\n}\n";
}

}  // namespace flashlab::exercises
