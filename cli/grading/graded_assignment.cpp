#include "cli/grading/graded_assignment.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <utility>

#include "cli/exercises/verdict_text.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

std::string part_cell(const GradedPart& part, std::size_t student) {
  return part.handed_in(student) ? exercises::points_text(part.points_of(student)) : "-";
}

std::string title_line(const GradedPart& part, const Terminal& terminal) {
  return styled(part.exercise->id + ": " + printable(part.exercise->title), Style::kBold,
                terminal) +
         "\n";
}

/// Returns a row for each note; empty if there is none.
std::string file_table(const GradedAssignment& graded, const Terminal& terminal) {
  TextTable table({{"student"}, {"files that no part took, or took under another name"}});
  for (std::size_t i = 0; i < graded.file_notes.size(); ++i) {
    for (const std::string& note : graded.file_notes[i]) {
      table.row({printable(graded.parts.front().students[i].name), printable(note)});
    }
  }
  return table.empty() ? "" : "\n" + table.to_string(terminal);
}

}  // namespace

double GradedPart::points_of(std::size_t student) const {
  const exercises::Verdict& verdict = *students[student].verdict;
  if (verdict.max_points <= 0) return 0;
  return exercises::rounded_points(points * verdict.points / verdict.max_points, points,
                                   verdict.points >= verdict.max_points);
}

bool GradedPart::handed_in(std::size_t student) const {
  const auto& findings = students[student].verdict->findings;
  return findings.empty() || findings.front().what != kNotHandedIn;
}

double GradedAssignment::points_of(std::size_t student) const {
  double sum = 0;
  for (const GradedPart& part : parts) {
    sum = exercises::added_points(sum, part.points_of(student));
  }
  return sum;
}

double GradedAssignment::mean_points() const {
  const double most = assignment.max_points();
  double sum = 0;
  bool all_full = true;
  for (std::size_t i = 0; i < num_students(); ++i) {
    sum += points_of(i);
    all_full = all_full && points_of(i) >= most;
  }
  if (num_students() == 0) return 0;
  return exercises::rounded_points(sum / static_cast<double>(num_students()), most, all_full);
}

bool GradedAssignment::is_all_right() const {
  return std::all_of(parts.begin(), parts.end(), [](const GradedPart& part) {
    return std::all_of(part.students.begin(), part.students.end(),
                       [](const auto& student) { return student.verdict->passed(); });
  });
}

void write_totals(std::ostream& out, const GradedAssignment& graded) {
  using exercises::spreadsheet_cell;
  constexpr const char* kLineEnd = "\r\n";
  std::vector<std::string> columns{"name"};
  for (const GradedPart& part : graded.parts) {
    columns.insert(columns.end(), {part.exercise->id, part.exercise->id + " outcome"});
  }
  columns.insert(columns.end(), {"points", "max_points", "files", "seed"});
  out << joined(columns, ",", spreadsheet_cell) << kLineEnd;
  for (std::size_t i = 0; i < graded.num_students(); ++i) {
    out << spreadsheet_cell(graded.parts.front().students[i].name);
    for (const GradedPart& part : graded.parts) {
      const std::string outcome(part.handed_in(i)
                                    ? exercises::outcome_key(part.students[i].verdict->outcome)
                                    : "missing");
      out << ',' << exercises::points_text(part.points_of(i)) << ',' << spreadsheet_cell(outcome);
    }
    const std::string files =
        i < graded.file_notes.size() ? joined(graded.file_notes[i], "; ") : std::string();
    out << ',' << exercises::points_text(graded.points_of(i)) << ','
        << exercises::points_text(graded.assignment.max_points()) << ','
        << (files.empty() ? "" : spreadsheet_cell(files)) << ','
        << (graded.seed.empty() ? "" : spreadsheet_cell(graded.seed)) << kLineEnd;
  }
}

void print_totals(const GradedAssignment& graded, const Terminal& terminal) {
  TextTable legend({{"part"}, {"exercise"}, {"points", Align::kRight}, {"right", Align::kRight}});
  std::vector<Column> columns{{"student"}};
  for (std::size_t at = 0; at < graded.parts.size(); ++at) {
    const GradedPart& part = graded.parts[at];
    const auto right = std::count_if(part.students.begin(), part.students.end(),
                                     [](const auto& student) { return student.verdict->passed(); });
    legend.row({std::to_string(at + 1), part.exercise->id, exercises::points_text(part.points),
                std::to_string(right)});
    columns.push_back({"part " + std::to_string(at + 1), Align::kRight});
  }
  columns.push_back({"total", Align::kRight});
  TextTable table(columns);
  for (std::size_t i = 0; i < graded.num_students(); ++i) {
    std::vector<std::string> cells{printable(graded.parts.front().students[i].name)};
    for (const GradedPart& part : graded.parts) cells.push_back(part_cell(part, i));
    cells.push_back(exercises::points_text(graded.points_of(i)));
    table.row(std::move(cells));
  }
  const auto students = static_cast<std::int64_t>(graded.num_students());
  std::cout << styled(printable(graded.assignment.title), Style::kBold, terminal) << "\n\n"
            << legend.to_string(terminal) << "\n"
            << table.to_string(terminal) << "\n"
            << counted(students, "student") << ", mean "
            << exercises::points_text(graded.mean_points()) << " of "
            << exercises::points_text(graded.assignment.max_points())
            << " points; - is not handed in\n"
            << file_table(graded, terminal);
}

void print_parts(const GradedAssignment& graded, const Terminal& terminal) {
  for (const GradedPart& part : graded.parts) {
    std::cout << title_line(part, terminal);
    if (part.handed_in(0)) {
      std::cout << verdict_text(*part.students.front().verdict, {}, terminal);
    } else {
      std::cout << "not handed in: there is no " << part.exercise->work_file() << "\n";
    }
    std::cout << exercises::points_text(part.points_of(0)) << " of "
              << exercises::points_text(part.points) << " points of the assignment\n\n";
  }
  std::cout << styled(printable(graded.assignment.title), Style::kBold, terminal) << ": "
            << exercises::points_text(graded.points_of(0)) << " of "
            << exercises::points_text(graded.assignment.max_points()) << " points\n"
            << file_table(graded, terminal);
}

}  // namespace flashlab::cli
