// A graded class in formats for other programs. Every function writes the same bytes for the same
// class. Submitted text is escaped, so that it cannot break a format.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/report/histogram.hpp"

namespace flashlab::exercises {

struct ClassReport {
  std::string exercise_id, exercise_title;
  double max_points = 0;
  std::vector<StudentResult> students;
  std::vector<StudentResult> skipped;  // entries that are not submissions; see skipped_result()
  std::vector<std::string> cost_keys;  // the costs of a right program, also if nobody is right
  bool has_orders = false;             // whether the order of a right program's loads is judged
  Costs best_ever;                     // empty: not recorded
  std::vector<Histogram> histograms;
  /// The proof at the largest searched size, without its program; nothing: no size was searched.
  std::optional<ProvenSize> proof;
  std::string isolation;  // how submissions were separated from each other and from the computer
  std::string seed;       // for JSON and CSV, which the teacher reads; empty: they do not name it
  std::optional<Histogram> proof_histogram;  // cycles there, if `histograms` has another size

  /// Returns the student's score at the proof's size, or null.
  const SizeScore* proof_score(const StudentResult& student) const;
  std::size_t with_proven_best() const;

  /// Returns the keys of the histograms, in their order.
  std::vector<std::string> counters() const;
  /// Returns the number of students for every outcome, from best to worst.
  std::vector<std::pair<Outcome, std::size_t>> outcomes() const;
  std::size_t passed() const;
  double mean_points() const;  // 0 for an empty class
};

/// Makes the report. `best_ever` already includes these students. No sum includes skipped entries.
ClassReport make_class_report(const Exercise& exercise, std::vector<StudentResult> students,
                              Costs best_ever, std::vector<StudentResult> skipped = {});

/// Returns a result for a skipped entry, with the reason as its only finding, so that every entry
/// of the folder appears in every report.
StudentResult skipped_result(const Exercise& exercise, const SkippedEntry& entry);
/// Returns the reason why an entry was skipped.
const std::string& why_skipped(const StudentResult& entry);

/// Returns one word: "full", "costly", "partial", "too_costly", "wrong",
/// "rejected", "limit", "unreadable", "crashed".
std::string_view outcome_key(Outcome outcome);

/// Returns "9.7", "10", "0.25": the number without trailing zeros, as JSON has it.
std::string points_text(double points);

/// Returns the lines of a finding: its place and sentence, then its details.
std::vector<std::string> finding_lines(const Finding& finding);
/// Returns "line 7, step 12, n = 2, random inputs"; empty if no place is known.
std::string finding_place(const Finding& finding);

/// Version 1 had no scores, load_lines and proof; 2 no skipped; 3 no outcome "crashed", and no
/// isolation; 4 no seed.
inline constexpr int kReportVersion = 5;
/// Writes {"format": "flashlab-grades", "version": kReportVersion, …}. Counts above 2^53 are strings.
void write_json(std::ostream& out, const ClassReport& report);

/// Returns a cell of CSV with a text, in quotes: a semicolon separates cells where a spreadsheet
/// takes the comma for a decimal point. A text that a spreadsheet would interpret as a formula gets an
/// apostrophe.
std::string spreadsheet_cell(const std::string& text);

/// Spreadsheets on Windows take a file for UTF-8 only if it begins so.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Writes CSV by RFC 4180, with a header line and CRLF. Texts are in quotes, numbers are not. An
/// exercise always has the same columns. After the counters: order_cycles (the minimum for the order
/// of operations) and avoidable_loads; at the largest size with a searched proof, cycles_in_proof and
/// the minimum and maximum distance from the best. If a spreadsheet would interpret a cell as a
/// formula (it begins with = + - @, in full width or not, a tab or a line end), the cell begins with
/// an apostrophe instead. Skipped entries come last, with the outcome "skipped" and without points.
void write_csv(std::ostream& out, const ClassReport& report);

/// Writes JUnit XML: a test suite for each student, a test case for each check.
void write_junit(std::ostream& out, const ClassReport& report);

struct GradescopeOptions {
  bool hide_costs = false;  // costs are visible after publication, without a leaderboard
};

/// Writes Gradescope's results.json for one student.
void write_gradescope(std::ostream& out, const StudentResult& student,
                      const GradescopeOptions& options);

/// Returns a file name for a student's results. Keeps letters, digits, '-', '_' and '.', and writes
/// every other byte as %XX. Different names give different files.
std::string safe_file_name(const std::string& name);

/// Writes a histogram as a section of a page whose style includes histogram_style().
void write_histogram(std::ostream& out, const Histogram& histogram);
std::string histogram_style();

/// A class as far as a report in JSON has it.
struct ReportedClass {
  std::string exercise_id;
  std::vector<Histogram> histograms;
};
/// Reads what write_json() wrote. Errors: not JSON, another format or version, a missing or invalid
/// value.
toy::Result<ReportedClass> read_json_report(const std::string& text);

/// Writes one self-contained page that works with and without JavaScript.
void write_html(std::ostream& out, const ClassReport& report);

}  // namespace flashlab::exercises
