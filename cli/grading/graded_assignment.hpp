// A graded assignment: the verdicts on each part, and what its students' folders hold besides.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/assignment.hpp"
#include "exercises/grader/grade/classroom.hpp"

namespace flashlab::cli {

inline constexpr const char* kNotHandedIn = "not handed in";

/// One part, graded. All parts have the same students in the same order.
struct GradedPart {
  ExercisePointer exercise;
  double points = 0;  // what the part is worth
  std::vector<exercises::StudentResult> students;

  /// Returns as large a part of the part's points as of the exercise's, which the verdict states, rounded down.
  double points_of(std::size_t student) const;
  bool handed_in(std::size_t student) const;
};

struct GradedAssignment {
  exercises::Assignment assignment;
  std::vector<GradedPart> parts;
  /// By student: files that a part took under another name, or that no part took. Empty if the
  /// students' names are replaced, because files may be called after them.
  std::vector<std::vector<std::string>> file_notes;
  std::string seed;  // for the CSV; empty: it does not name it

  std::size_t num_students() const { return parts.front().students.size(); }
  double points_of(std::size_t student) const;
  double mean_points() const;  // 0 for an empty class
  bool is_all_right() const;
};

/// Writes CSV as exercises::write_csv does: a row for each student, two cells for each part.
void write_totals(std::ostream& out, const GradedAssignment& graded);
/// Prints the parts, a row for each student, and the notes on files.
void print_totals(const GradedAssignment& graded, const Terminal& terminal);
/// Prints the verdicts on the only student's parts.
void print_parts(const GradedAssignment& graded, const Terminal& terminal);

}  // namespace flashlab::cli
