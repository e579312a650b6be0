#include <algorithm>
#include <cmath>

#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/numbers.hpp"

namespace flashlab::exercises {
namespace {

/// The largest searched size. Sizes are sorted, smallest first.
std::optional<ProvenSize> last_proof(const Exercise& exercise) {
  std::optional<ProvenSize> last;
  if (exercise.kind != Kind::kProgram || exercise.proven == nullptr) return last;
  for (const ProvenSize& one : exercise.proven->sizes) {
    if (one.verdict != ProofVerdict::kNotSearched) last = one;
  }
  if (last) last->program.clear();
  return last;
}

}  // namespace

ClassReport make_class_report(const Exercise& exercise, std::vector<StudentResult> students,
                              Costs best_ever, std::vector<StudentResult> skipped) {
  ClassReport report;
  report.exercise_id = exercise.id;
  report.exercise_title = exercise.title;
  report.max_points = exercise.max_points();
  if (exercise.kind == Kind::kProgram) {
    for (const auto& [key, formula] : exercise.program.cost.full) report.cost_keys.push_back(key);
    report.has_orders = exercise.program.counted.ranges.empty();
  }
  report.histograms = class_histograms(students, best_ever);
  for (const std::string& key : report.counters()) {  // times are judged elsewhere
    const auto& keys = report.cost_keys;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) report.cost_keys.push_back(key);
  }
  report.proof = last_proof(exercise);
  if (report.proof && report.proof->size != exercise.program.sizes.back()) {
    report.proof_histogram = proof_histogram(students, *report.proof);
  }
  report.students = std::move(students);
  report.skipped = std::move(skipped);
  report.best_ever = std::move(best_ever);
  return report;
}

StudentResult skipped_result(const Exercise& exercise, const SkippedEntry& entry) {
  Verdict verdict;
  verdict.outcome = Outcome::kUnreadable;
  verdict.max_points = exercise.max_points();
  Finding finding;
  finding.what = entry.why;
  verdict.findings.push_back(std::move(finding));
  return {entry.name, std::make_shared<const Verdict>(std::move(verdict)), {}};
}

const std::string& why_skipped(const StudentResult& entry) {
  return entry.verdict->findings.front().what;
}

const SizeScore* ClassReport::proof_score(const StudentResult& student) const {
  if (!proof || !student.verdict->passed()) return nullptr;
  for (const SizeScore& score : student.verdict->scores) {
    if (score.size == proof->size) return &score;
  }
  return nullptr;
}

std::size_t ClassReport::with_proven_best() const {
  return static_cast<std::size_t>(
      std::count_if(students.begin(), students.end(), [&](const StudentResult& student) {
        const SizeScore* score = proof_score(student);
        return score != nullptr && score->is_best();
      }));
}

std::vector<std::string> ClassReport::counters() const {
  std::vector<std::string> keys;
  for (const Histogram& histogram : histograms) keys.push_back(histogram.key);
  return keys;
}

std::vector<std::pair<Outcome, std::size_t>> ClassReport::outcomes() const {
  std::vector<std::pair<Outcome, std::size_t>> all;
  for (const Outcome outcome :
       {Outcome::kFull, Outcome::kCostly, Outcome::kPartial, Outcome::kTooCostly, Outcome::kWrong,
        Outcome::kRejected, Outcome::kLimit, Outcome::kUnreadable, Outcome::kCrashed}) {
    all.emplace_back(outcome, 0);
  }
  for (const StudentResult& student : students) {
    ++all[static_cast<std::size_t>(student.verdict->outcome)].second;
  }
  return all;
}

std::size_t ClassReport::passed() const {
  return static_cast<std::size_t>(
      std::count_if(students.begin(), students.end(),
                    [](const StudentResult& student) { return student.verdict->passed(); }));
}

double ClassReport::mean_points() const {
  double sum = 0;
  bool all_full = true;
  for (const StudentResult& student : students) {
    sum += student.verdict->points;
    all_full = all_full && student.verdict->points >= max_points;
  }
  if (students.empty()) return 0;
  return rounded_points(sum / static_cast<double>(students.size()), max_points, all_full);
}

std::string_view outcome_key(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFull:
      return "full";
    case Outcome::kCostly:
      return "costly";
    case Outcome::kPartial:
      return "partial";
    case Outcome::kTooCostly:
      return "too_costly";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kLimit:
      return "limit";
    case Outcome::kUnreadable:
      return "unreadable";
    case Outcome::kCrashed:
      return "crashed";
  }
  return "";
}

std::string points_text(double points) {
  std::string result = fixed_text(points, 6);  // as fine as added_points()
  while (result.ends_with('0')) result.pop_back();
  if (result.ends_with('.')) result.pop_back();
  return result == "-0" ? "0" : result;
}

std::string finding_place(const Finding& finding) {
  std::string place;
  const auto add = [&](const std::string& part) { place += (place.empty() ? "" : ", ") + part; };
  if (finding.line > 0) add("line " + std::to_string(finding.line));
  if (finding.step > 0) add("step " + std::to_string(finding.step));
  // The sentence may end with the size: "c[0][0] is wrong at n = 2".
  const std::size_t end = finding.inputs.rfind(", ");
  const bool is_said =
      end != std::string::npos && finding.what.ends_with(" at " + finding.inputs.substr(0, end));
  const std::string inputs = is_said ? finding.inputs.substr(end + 2) : finding.inputs;
  if (!inputs.empty()) add(inputs);
  return place;
}

std::vector<std::string> finding_lines(const Finding& finding) {
  const std::string place = finding_place(finding);
  std::vector<std::string> lines{place.empty() ? finding.what : place + ": " + finding.what};
  for (const std::string& detail : finding.details) lines.push_back("  " + detail);
  return lines;
}

}  // namespace flashlab::exercises
