#include "cli/grading/assignment_grading.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "cli/grading/class_grading.hpp"
#include "cli/grading/graded_assignment.hpp"
#include "cli/grading/grading_seed.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "exercises/grader/exercise/assignment.hpp"
#include "exercises/grader/report/pseudonyms.hpp"
#include "exercises/grader/report/reports.hpp"
#include "exercises/grader/submission/student_files.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;
using exercises::Assignment;
using exercises::StudentResult;
using exercises::Submission;

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

/// "'a', 'b', 'c' and 7 others".
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  const auto shown =
      static_cast<std::ptrdiff_t>(names.size() <= kShown + 1 ? names.size() : kShown);
  std::string text = joined(std::vector<std::string>(names.begin(), names.begin() + shown), ", ",
                            [](const std::string& name) { return "'" + visible_name(name) + "'"; });
  const std::size_t rest = names.size() - static_cast<std::size_t>(shown);
  return rest == 0 ? text : text + " and " + std::to_string(rest) + " others";
}

/// Returns the students, each a folder. Prints what else is there, a line for each reason.
std::vector<Submission> list_students(const GradeOptions& options) {
  std::vector<Submission> students;
  std::map<std::string, std::vector<std::string>> skipped;  // names by the reason
  try {
    if (options.all_folder.empty()) return exercises::list_paths(options.files);
    exercises::ClassFolder folder = exercises::list_class(options.all_folder);
    for (const exercises::SkippedEntry& entry : folder.skipped) {
      skipped[entry.why].push_back(entry.name);
    }
    for (Submission& student : folder.students) {
      if (fs::symlink_status(student.path).type() == fs::file_type::directory) {
        students.push_back(std::move(student));
      } else {
        skipped["it is not a folder"].push_back(student.name);
      }
    }
  } catch (const std::runtime_error& error) {
    throw request_failure(error.what());
  }
  if (students.empty()) {
    throw request_failure("there is no student in '" + printable(options.all_folder) + "'",
                          "a folder NAME for each student, with a file for each part");
  }
  for (const auto& [why, names] : skipped) {
    if (!options.quiet) {
      std::cerr << "flashlab: note: skipped: " << names_text(names) << ": " << why << "\n";
    }
  }
  return students;
}

/// The files of one student, by part.
using AllFiles = std::vector<exercises::StudentFiles>;

AllFiles find_files(const std::vector<Submission>& students,
                    const std::vector<ExercisePointer>& parts) {
  std::vector<const exercises::Exercise*> exercises;
  for (const ExercisePointer& part : parts) exercises.push_back(part.get());
  AllFiles all;
  for (const Submission& student : students) {
    all.push_back(exercises::find_student_files(student.path, exercises));
  }
  return all;
}

std::string undecided(const exercises::PartFiles& files, const exercises::Exercise& exercise) {
  return names_text(files.rivals) + ": each may be " + exercise.work_file() + ", so none is graded";
}

/// What a teacher has to know about a student's files; at most a line for each part, and two.
std::vector<std::string> notes_on(const exercises::StudentFiles& files,
                                  const std::vector<ExercisePointer>& parts) {
  std::vector<std::string> notes, others = files.others;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const exercises::PartFiles& part = files.parts[i];
    if (!part.rivals.empty()) {
      notes.push_back(undecided(part, *parts[i]));
      std::erase_if(others, [&](const std::string& path) {
        return std::find(part.rivals.begin(), part.rivals.end(), path) != part.rivals.end();
      });
    } else if (!part.taken.empty() && !part.is_exact) {
      notes.push_back(names_text({part.taken}) + " is graded as " + parts[i]->work_file());
    }
  }
  if (!others.empty()) {
    notes.push_back(names_text(others) + ": no part took " + (others.size() == 1 ? "it" : "them"));
  }
  if (!files.problem.empty()) notes.push_back(visible_name(files.problem));
  return notes;
}

StudentResult without_file(const exercises::Exercise& exercise, const std::string& name,
                           const exercises::PartFiles& files) {
  const std::string why = files.rivals.empty() ? kNotHandedIn : undecided(files, exercise);
  return exercises::skipped_result(exercise, {name, why});
}

/// Grades those who have a file for the part.
GradedPart grade_part(const GradeOptions& options, std::size_t part, double points,
                      const ExercisePointer& exercise, const std::vector<Submission>& students,
                      const AllFiles& files) {
  GradedPart graded{exercise, points, {}};
  std::vector<Submission> present;
  for (std::size_t i = 0; i < students.size(); ++i) {
    const std::string& taken = files[i].parts[part].taken;
    if (!taken.empty()) present.push_back({students[i].name, students[i].path + "/" + taken});
  }
  std::vector<StudentResult> results;
  if (!present.empty()) {
    ClassGrading grading(options, exercise);
    results = grading.grade(present, [](std::size_t) {});
    grading.finish();
  }
  auto next = results.begin();
  for (std::size_t i = 0; i < students.size(); ++i) {
    const exercises::PartFiles& own = files[i].parts[part];
    graded.students.push_back(own.taken.empty() ? without_file(*exercise, students[i].name, own)
                                                : std::move(*next++));
  }
  if (!options.names_students()) {
    const auto names =
        options.names == "none" ? exercises::Names::kNone : exercises::Names::kPseudonym;
    exercises::rename_students(graded.students, names, options.names_key);
  }
  return graded;
}

}  // namespace

bool is_assignment(const std::string& name) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(name) / exercises::kAssignmentFile, ignored);
}

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

bool grade_assignment(const GradeOptions& given) {
  GradeOptions options = given;
  GradedAssignment graded{load_assignment(options.id), {}, {}, {}};
  const fs::path own = fs::path(options.id) / "exercises";
  if (fs::is_directory(own)) options.exercises.folders.push_back(own.string());
  std::vector<ExercisePointer> parts;
  for (const exercises::AssignmentPart& part : graded.assignment.parts) {
    parts.push_back(find_exercise(part.exercise, options.exercises));
    if (!options.quiet) warn_if_replaced(*parts.back());
  }
  const std::vector<Submission> students = list_students(options);
  const AllFiles files = find_files(students, parts);
  const GradingSeed seed = choose_fair_seed(options, [&](const GradeOptions& tried) {
    return std::all_of(parts.begin(), parts.end(), [&](const ExercisePointer& part) {
      return ClassGrading(tried, part).is_solution_right();
    });
  });
  for (const std::string& note : seed.notes) {
    if (!options.quiet) std::cerr << "flashlab: note: " << note << "\n";
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    graded.parts.push_back(
        grade_part(options, i, graded.assignment.parts[i].points, parts[i], students, files));
  }
  std::vector<std::vector<std::string>> notes;
  for (const exercises::StudentFiles& one : files) notes.push_back(notes_on(one, parts));
  if (options.names_students()) {
    graded.seed = seed.shown;
    graded.file_notes = std::move(notes);
  } else if (!options.quiet) {
    for (std::size_t i = 0; i < students.size(); ++i) {
      for (const std::string& note : notes[i]) {
        std::cerr << "flashlab: note: " << students[i].name << ": " << note << "\n";
      }
    }
  }
  if (!options.csv.empty()) {
    write_file(options.csv, [&](std::ostream& out) {
      if (options.add_bom) out << exercises::kByteOrderMark;
      write_totals(out, graded);
    });
  }
  if (!options.quiet && options.csv != "-") {
    const Terminal terminal = options.terminal.terminal();
    (options.all_folder.empty() ? print_parts : print_totals)(graded, terminal);
    print_seed(seed, terminal);
  }
  return graded.is_all_right();
}

}  // namespace flashlab::cli
