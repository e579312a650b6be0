// A graded class in the formats that other programs read. Every function writes the same bytes for
// the same class. Nothing of what was submitted can leave its place in a format.
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
  std::vector<StudentResult> skipped;  // entries that are no submission; see skipped_result()
  Costs best_ever;                     // empty: not kept
  std::vector<Histogram> histograms;
  /// What is proved at the largest size that was searched, without its program; nothing: no size.
  std::optional<ProvenSize> proof;
  std::string isolation;  // how submissions were kept apart, and from the computer
  std::optional<Histogram> proof_histogram;  // of cycles there, where `histograms` has another size

  /// The student's score at the proof's size; null: none.
  const SizeScore* proof_score(const StudentResult& student) const;
  std::size_t with_proven_best() const;
  /// How many of the right programs' loads could be saved is known.
  bool has_load_lines() const;

  /// The keys of the histograms, in their order.
  std::vector<std::string> counters() const;
  /// How many came to each outcome; all outcomes are there, from best to worst.
  std::vector<std::pair<Outcome, std::size_t>> outcomes() const;
  std::size_t passed() const;
  double mean_points() const;  // 0 for nobody
};

/// `best_ever` already holds the students' own. What was skipped counts in no sum.
ClassReport make_class_report(const Exercise& exercise, std::vector<StudentResult> students,
                              Costs best_ever, std::vector<StudentResult> skipped = {});

/// An entry that was skipped, with its reason as the only finding: every entry of a class's folder
/// stands in every report.
StudentResult skipped_result(const Exercise& exercise, const SkippedEntry& entry);
/// The reason.
const std::string& why_skipped(const StudentResult& entry);

/// One word: "full", "costly", "partial", "wrong", "rejected", "limit", "unreadable",
/// "crashed".
std::string_view outcome_key(Outcome outcome);

/// "9.73": at most two digits behind the point, none that is not needed.
std::string points_text(double points);

/// A finding in lines: where, what, then its details.
std::vector<std::string> finding_lines(const Finding& finding);
/// "line 7, step 12, n = 2, random inputs"; empty when nothing is known.
std::string finding_place(const Finding& finding);

/// {"format": "flashlab-grades", "version": 4, …}. Counts above 2^53 are strings.
void write_json(std::ostream& out, const ClassReport& report);

/// RFC 4180, a header line, CRLF. After the counters: order_cycles (what the order of operations
/// allows) and avoidable_loads; at the largest size with a searched proof, cycles_in_proof and how
/// far they are above the best, at least and at most. A cell that a spreadsheet would compute (it
/// begins with = + - @, in full width or not, a tab or a line end) begins with an apostrophe
/// instead. What was skipped comes last, with the outcome "skipped" and without points.
void write_csv(std::ostream& out, const ClassReport& report);

/// JUnit XML: a test suite for each student, a test case for each check.
void write_junit(std::ostream& out, const ClassReport& report);

struct GradescopeOptions {
  bool hide_costs =
      false;  // costs are shown after grades are published, and there is no leaderboard
};

/// Gradescope's results.json for one student.
void write_gradescope(std::ostream& out, const StudentResult& student,
                      const GradescopeOptions& options);

/// A file name for a student's results: letters, digits, '-', '_' and '.' as they are, every other
/// byte as %XX. Different names get different files.
std::string safe_file_name(const std::string& name);

/// One page that needs nothing else, with or without JavaScript.
void write_html(std::ostream& out, const ClassReport& report);

}  // namespace flashlab::exercises
