#include <algorithm>

#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/markup.hpp"

namespace flashlab::exercises {
namespace {

/// A test case: a check, or a problem outside all checks.
struct TestCase {
  std::string name;
  const char* problem = nullptr;  // "failure", "error"; null: passed
  std::string message, text;
};

/// Nothing could be run: JUnit distinguishes such errors from failures.
bool is_error(Outcome outcome) { return outcome >= Outcome::kRejected; }

std::string all_findings(const Verdict& verdict) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    for (const std::string& line : finding_lines(finding)) text += line + "\n";
  }
  return text;
}

std::vector<TestCase> cases_of(const Verdict& verdict) {
  std::vector<TestCase> cases;
  const std::string first = verdict.findings.empty() ? "" : verdict.findings.front().what;
  bool told = false;  // the first check that did not pass lists all findings
  for (const Check& check : verdict.checks) {
    TestCase one;
    one.name = check.name;
    if (!check.passed) {
      one.problem = "failure";
      one.message = check.message.empty() ? (told ? "" : first) : check.message;
      one.text = told ? "" : all_findings(verdict);
      told = true;
    }
    cases.push_back(std::move(one));
  }
  const bool silent = !told && verdict.outcome > Outcome::kCostly;
  if (silent || cases.empty()) {  // not visible in any check
    TestCase one;
    one.name = "submission";
    if (silent) {
      one.problem = is_error(verdict.outcome) ? "error" : "failure";
      one.message = first;
      one.text = all_findings(verdict);
    }
    cases.insert(cases.begin(), std::move(one));
  }
  return cases;
}

struct Numbers {
  std::size_t tests = 0, failures = 0, errors = 0;
};

Numbers numbers_of(const std::vector<TestCase>& cases) {
  Numbers numbers;
  numbers.tests = cases.size();
  for (const TestCase& one : cases) {
    if (one.problem == nullptr) continue;
    ++(one.problem == std::string_view("error") ? numbers.errors : numbers.failures);
  }
  return numbers;
}

void write_numbers(std::ostream& out, const Numbers& numbers) {
  out << " tests=\"" << numbers.tests << "\" failures=\"" << numbers.failures << "\" errors=\""
      << numbers.errors << "\"";
}

void write_property(std::ostream& out, const std::string& name, const std::string& value) {
  out << "      <property name=\"" << markup_text(name) << "\" value=\"" << markup_text(value)
      << "\"/>\n";
}

/// Writes the proof at the largest searched size, and what the order allows.
void write_score_properties(std::ostream& out, const ClassReport& report,
                            const StudentResult& student) {
  const Verdict& verdict = *student.verdict;
  if (verdict.passed() && !verdict.scores.empty() && verdict.scores.back().order) {
    write_property(out, "order_cycles", verdict.scores.back().order->cycles.get_str());
    write_property(out, "avoidable_loads", avoidable_loads(verdict).get_str());
  }
  if (const SizeScore* score = report.proof_score(student)) {
    write_property(out, "proven_best", proven_text(*score));
    if (const auto distance = distance_of(*score)) {
      write_property(out, "above_proven_best", distance->text());
    }
  }
}

void write_sentences(std::ostream& out, const Verdict& verdict) {
  const std::vector<std::string> sentences = score_sentences(verdict);
  if (!verdict.passed() || sentences.empty()) return;
  out << "    <system-out>";
  for (const std::string& one : sentences) out << markup_text(one) << "\n";
  out << "</system-out>\n";
}

void write_suite(std::ostream& out, const ClassReport& report, const StudentResult& student) {
  const Verdict& verdict = *student.verdict;
  const std::vector<TestCase> cases = cases_of(verdict);
  out << "  <testsuite name=\"" << markup_text(student.name) << "\"";
  write_numbers(out, numbers_of(cases));
  out << " skipped=\"0\" time=\"0\">\n    <properties>\n";
  write_property(out, "outcome", std::string(outcome_key(verdict.outcome)));
  write_property(out, "points", points_text(verdict.points));
  write_property(out, "max_points", points_text(verdict.max_points));
  for (const CostLine& line : verdict.costs) write_property(out, line.key, line.value.get_str());
  write_score_properties(out, report, student);
  out << "    </properties>\n";
  for (const TestCase& one : cases) {
    out << "    <testcase classname=\"" << markup_text(report.exercise_id + "." + student.name)
        << "\" name=\"" << markup_text(one.name) << "\" time=\"0\"";
    if (one.problem == nullptr) {
      out << "/>\n";
      continue;
    }
    out << ">\n      <" << one.problem << " type=\"" << outcome_key(verdict.outcome)
        << "\" message=\"" << markup_text(one.message) << "\">" << markup_text(one.text) << "</"
        << one.problem << ">\n    </testcase>\n";
  }
  write_sentences(out, verdict);
  out << "  </testsuite>\n";
}

void write_skipped(std::ostream& out, const ClassReport& report, const StudentResult& entry) {
  out << "  <testsuite name=\"" << markup_text(entry.name)
      << "\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\" time=\"0\">\n"
      << "    <testcase classname=\"" << markup_text(report.exercise_id + "." + entry.name)
      << "\" name=\"submission\" time=\"0\">\n      <skipped message=\""
      << markup_text(why_skipped(entry)) << "\"/>\n    </testcase>\n  </testsuite>\n";
}

}  // namespace

void write_junit(std::ostream& out, const ClassReport& report) {
  Numbers all;
  for (const StudentResult& student : report.students) {
    const Numbers numbers = numbers_of(cases_of(*student.verdict));
    all.tests += numbers.tests;
    all.failures += numbers.failures;
    all.errors += numbers.errors;
  }
  all.tests += report.skipped.size();
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\""
      << markup_text(report.exercise_id) << "\"";
  write_numbers(out, all);
  if (!report.skipped.empty()) out << " skipped=\"" << report.skipped.size() << "\"";
  out << " time=\"0\">\n";
  for (const StudentResult& student : report.students) write_suite(out, report, student);
  for (const StudentResult& entry : report.skipped) write_skipped(out, report, entry);
  out << "</testsuites>\n";
}

}  // namespace flashlab::exercises
