#include "cli/grading/assignment_grading.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "cli/exercises/verdict_text.hpp"
#include "cli/grading/class_grading.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/exercise/assignment.hpp"
#include "exercises/grader/report/pseudonyms.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;
using exercises::Assignment;
using exercises::StudentResult;
using exercises::Submission;

constexpr const char* kNotHandedIn = "not handed in";

/// One part, graded. All parts have the same students in the same order.
struct GradedPart {
  ExercisePointer exercise;
  double points = 0;  // what the part is worth
  std::vector<StudentResult> students;

  double points_of(std::size_t student) const {
    const exercises::Verdict& verdict = *students[student].verdict;
    return verdict.max_points > 0 ? points * verdict.points / verdict.max_points : 0;
  }
  bool handed_in(std::size_t student) const {
    const auto& findings = students[student].verdict->findings;
    return findings.empty() || findings.front().what != kNotHandedIn;
  }
};

Assignment load_assignment(const std::string& folder) {
  constexpr std::size_t kMostBytes = 1 << 20;
  std::ifstream file(fs::path(folder) / exercises::kAssignmentFile, std::ios::binary);
  std::string text;
  for (char c = 0; text.size() <= kMostBytes && file.get(c);) text += c;
  if (text.size() > kMostBytes) {
    throw request_failure("the assignment.toml in '" + printable(folder) + "' is too long",
                          "at most 1 MiB");
  }
  exercises::AssignmentResult read = exercises::read_assignment(text);
  if (read.assignment) return std::move(*read.assignment);
  throw Failure(kExitRequestWrong,
                exercises::format(read.errors, {{exercises::kAssignmentFile, text}}) +
                    "flashlab: error: the assignment '" + printable(folder) + "' is broken\n");
}

/// Reports flags that are about one exercise.
void check_assignment_flags(const GradeOptions& options) {
  const auto refuse = [&](bool given, const std::string& flag) {
    if (!given) return;
    throw request_failure(
        flag + " is about one exercise, and '" + printable(options.id) + "' is an assignment",
        "--csv FILE for all points, or one part: flashlab grade PART " +
            std::string(options.all_folder.empty() ? "FOLDER" : "--all DIR") + " " + flag);
  };
  refuse(!options.json.empty(), "--json");
  refuse(!options.junit.empty(), "--junit");
  refuse(!options.html.empty(), "--html");
  refuse(!options.gradescope.empty(), "--gradescope");
  refuse(!options.best.empty(), "--best");
  const bool one_folder = options.files.size() == 1 && fs::is_directory(options.files.front());
  if (options.all_folder.empty() && !one_folder) {
    throw request_failure("an assignment has several files",
                          "a student's folder, or --all DIR with a folder for each student");
  }
}

/// Returns the students, each a folder. Prints what else is there.
std::vector<Submission> list_students(const GradeOptions& options) {
  std::vector<Submission> students;
  std::vector<std::string> skipped;
  try {
    if (options.all_folder.empty()) return exercises::list_paths(options.files);
    exercises::ClassFolder folder = exercises::list_class(options.all_folder);
    for (const exercises::SkippedEntry& entry : folder.skipped) {
      skipped.push_back("'" + entry.name + "': " + entry.why);
    }
    for (Submission& student : folder.students) {
      if (fs::symlink_status(student.path).type() == fs::file_type::directory) {
        students.push_back(std::move(student));
      } else {
        skipped.push_back("'" + student.name + "': it is not a folder");
      }
    }
  } catch (const std::runtime_error& error) {
    throw request_failure(error.what());
  }
  if (students.empty()) {
    throw request_failure("there is no student in '" + printable(options.all_folder) + "'",
                          "a folder NAME for each student, with a file for each part");
  }
  for (const std::string& note : skipped) {
    if (!options.quiet) std::cerr << "flashlab: note: skipped: " << note << "\n";
  }
  return students;
}

StudentResult not_handed_in(const exercises::Exercise& exercise, const std::string& name) {
  return exercises::skipped_result(exercise, {name, kNotHandedIn});
}

/// Grades those who have the part's work file. It is not guessed from other files, because a folder
/// has files of several parts.
GradedPart grade_part(const GradeOptions& options, const exercises::AssignmentPart& part,
                      const std::vector<Submission>& students) {
  GradedPart graded{find_exercise(part.exercise, options.exercises), part.points, {}};
  const std::string work_file = graded.exercise->work_file();
  std::vector<Submission> present;
  for (const Submission& student : students) {
    const auto status = fs::symlink_status(fs::path(student.path) / work_file);
    if (fs::exists(status)) present.push_back(student);
  }
  std::vector<StudentResult> results;
  if (!present.empty()) {
    ClassGrading grading(options, graded.exercise);
    results = grading.grade(present, [](std::size_t) {});
    grading.finish();
  }
  auto next = results.begin();
  for (const Submission& student : students) {
    graded.students.push_back(next != results.end() && next->name == student.name
                                  ? std::move(*next++)
                                  : not_handed_in(*graded.exercise, student.name));
  }
  if (options.names != "real") {
    const auto names =
        options.names == "none" ? exercises::Names::kNone : exercises::Names::kPseudonym;
    exercises::rename_students(graded.students, names, options.seed);
  }
  return graded;
}

double sum_of_parts(const std::vector<GradedPart>& parts, std::size_t student) {
  double sum = 0;
  for (const GradedPart& part : parts) sum += part.points_of(student);
  return sum;
}

bool every_part_right(const std::vector<GradedPart>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const GradedPart& part) {
    return std::all_of(part.students.begin(), part.students.end(),
                       [](const StudentResult& student) { return student.verdict->passed(); });
  });
}

void write_totals(std::ostream& out, const std::vector<GradedPart>& parts, double max_points) {
  constexpr const char* kLineEnd = "\r\n";
  out << "name";
  for (const GradedPart& part : parts) {
    out << ',' << exercises::spreadsheet_cell(part.exercise->id) << ','
        << exercises::spreadsheet_cell(part.exercise->id + " outcome");
  }
  out << ",points,max_points" << kLineEnd;
  for (std::size_t i = 0; i < parts.front().students.size(); ++i) {
    out << exercises::spreadsheet_cell(parts.front().students[i].name);
    for (const GradedPart& part : parts) {
      out << ',' << exercises::points_text(part.points_of(i)) << ','
          << (part.handed_in(i) ? exercises::outcome_key(part.students[i].verdict->outcome)
                                : "missing");
    }
    out << ',' << exercises::points_text(sum_of_parts(parts, i)) << ','
        << exercises::points_text(max_points) << kLineEnd;
  }
}

std::string part_cell(const GradedPart& part, std::size_t student) {
  return part.handed_in(student) ? exercises::points_text(part.points_of(student)) : "-";
}

void print_totals(const Assignment& assignment, const std::vector<GradedPart>& parts,
                  const Terminal& terminal) {
  TextTable legend({{"part"}, {"exercise"}, {"points", Align::kRight}, {"right", Align::kRight}});
  std::vector<Column> columns{{"student"}};
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const GradedPart& part = parts[at];
    const auto right =
        std::count_if(part.students.begin(), part.students.end(),
                      [](const StudentResult& student) { return student.verdict->passed(); });
    legend.row({std::to_string(at + 1), part.exercise->id, exercises::points_text(part.points),
                std::to_string(right)});
    columns.push_back({"part " + std::to_string(at + 1), Align::kRight});
  }
  columns.push_back({"total", Align::kRight});
  TextTable table(columns);
  const std::size_t students = parts.front().students.size();
  double sum = 0;
  for (std::size_t i = 0; i < students; ++i) {
    std::vector<std::string> cells{printable(parts.front().students[i].name)};
    for (const GradedPart& part : parts) cells.push_back(part_cell(part, i));
    cells.push_back(exercises::points_text(sum_of_parts(parts, i)));
    table.row(std::move(cells));
    sum += sum_of_parts(parts, i);
  }
  std::cout << styled(printable(assignment.title), Style::kBold, terminal) << "\n\n"
            << legend.to_string(terminal) << "\n"
            << table.to_string(terminal) << "\n"
            << counted(static_cast<std::int64_t>(students), "student") << ", mean "
            << exercises::points_text(sum / static_cast<double>(students)) << " of "
            << exercises::points_text(assignment.max_points()) << " points; - is not handed in\n";
}

void print_parts(const Assignment& assignment, const std::vector<GradedPart>& parts,
                 const Terminal& terminal) {
  for (const GradedPart& part : parts) {
    std::cout << styled(part.exercise->id + ": " + printable(part.exercise->title), Style::kBold,
                        terminal)
              << "\n";
    if (part.handed_in(0)) {
      std::cout << verdict_text(*part.students.front().verdict, {}, terminal);
    } else {
      std::cout << "not handed in: there is no " << part.exercise->work_file() << "\n";
    }
    std::cout << exercises::points_text(part.points_of(0)) << " of "
              << exercises::points_text(part.points) << " points of the assignment\n\n";
  }
  std::cout << styled(printable(assignment.title), Style::kBold, terminal) << ": "
            << exercises::points_text(sum_of_parts(parts, 0)) << " of "
            << exercises::points_text(assignment.max_points()) << " points\n";
}

}  // namespace

bool is_assignment(const std::string& name) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(name) / exercises::kAssignmentFile, ignored);
}

bool grade_assignment(const GradeOptions& given) {
  GradeOptions options = given;
  check_assignment_flags(options);
  const Assignment assignment = load_assignment(options.id);
  const fs::path own = fs::path(options.id) / "exercises";
  if (fs::is_directory(own)) options.exercises.folders.push_back(own.string());
  for (const exercises::AssignmentPart& part : assignment.parts) {
    find_exercise(part.exercise, options.exercises);  // reports a wrong name before it grades
  }
  const std::vector<Submission> students = list_students(options);
  options.warn_about_names();
  std::vector<GradedPart> parts;
  for (const exercises::AssignmentPart& part : assignment.parts) {
    parts.push_back(grade_part(options, part, students));
  }
  if (!options.csv.empty()) {
    write_file(options.csv,
               [&](std::ostream& out) { write_totals(out, parts, assignment.max_points()); });
  }
  if (!options.quiet && options.csv != "-") {
    const Terminal terminal = options.terminal.terminal();
    (options.all_folder.empty() ? print_parts : print_totals)(assignment, parts, terminal);
  }
  return every_part_right(parts);
}

}  // namespace flashlab::cli
