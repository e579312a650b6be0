// `flashlab grade`: grades one submission or a class.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cli/exercises/histogram_text.hpp"
#include "cli/exercises/verdict_text.hpp"
#include "cli/gpu/speed.hpp"
#include "cli/grading/assignment_grading.hpp"
#include "cli/grading/best_file.hpp"
#include "cli/grading/class_grading.hpp"
#include "cli/grading/class_text.hpp"
#include "cli/grading/grade_options.hpp"
#include "cli/grading/grading_seed.hpp"
#include "cli/grading/speed_ranking.hpp"
#include "cli/options/commands.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/terminal.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/report/pseudonyms.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using exercises::ClassReport;
using exercises::Names;
using exercises::StudentResult;
using exercises::Submission;

constexpr std::size_t kMostNotes = 20;

/// Shows the count on one line of a terminal; prints nothing elsewhere.
class GradingProgress {
 public:
  GradingProgress(std::size_t total, bool quiet)
      : total_(total), shown_(!quiet && total > 1 && can_rewrite_lines()) {}
  ~GradingProgress() {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  }
  GradingProgress(const GradingProgress&) = delete;
  GradingProgress& operator=(const GradingProgress&) = delete;

  void operator()(std::size_t done) const {
    if (shown_) std::cerr << "\r\x1b[Kgraded " << done << " of " << total_ << std::flush;
  }

 private:
  std::size_t total_;
  bool shown_;
};

void print_notes(const std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < std::min(notes.size(), kMostNotes); ++i) {
    std::cerr << "flashlab: note: " << notes[i] << "\n";
  }
  if (notes.size() > kMostNotes) {
    std::cerr << "flashlab: note: " << notes.size() - kMostNotes << " more notes are not shown\n";
  }
}

std::vector<StudentResult> grade_standard_input(const exercises::Exercise& exercise,
                                                ClassGrading& grading) {
  const auto most = static_cast<std::size_t>(exercise.program.limits.max_source_bytes);
  std::string text;
  for (char c = 0; text.size() <= most && std::cin.get(c);) text += c;
  if (std::cin.bad()) throw request_failure("standard input cannot be read");
  const exercises::SubmissionText read =
      exercises::check_submission_text(std::move(text), exercise);
  StudentResult result;
  result.name = "standard input";
  result.verdict =
      read.readable
          ? grading.grade(read.text)
          : std::make_shared<const exercises::Verdict>(exercises::refused(exercise, read));
  return {result};
}

/// Returns the students' results. `skipped` receives the entries of a class's folder that
/// are not submissions.
std::vector<StudentResult> grade_files(const GradeOptions& options,
                                       const exercises::Exercise& exercise, ClassGrading& grading,
                                       std::vector<StudentResult>& skipped) {
  std::vector<Submission> students;
  std::vector<std::string> notes;
  try {
    if (options.all_folder.empty()) {
      students = exercises::list_paths(options.files);
    } else {
      exercises::ClassFolder folder = exercises::list_class(options.all_folder);
      students = std::move(folder.students);
      for (const exercises::SkippedEntry& entry : folder.skipped) {
        notes.push_back("skipped: '" + entry.name + "': " + entry.why);
        skipped.push_back(exercises::skipped_result(exercise, entry));
      }
    }
  } catch (const std::runtime_error& error) {
    throw request_failure(error.what());
  }
  if (students.empty()) {
    throw request_failure("there is no submission in '" + printable(options.all_folder) + "'",
                          "a file NAME.toy or a folder NAME for each student");
  }
  std::vector<StudentResult> results;
  {
    const GradingProgress progress(students.size(), options.quiet);
    results = grading.grade(students, [&](std::size_t done) { progress(done); });
  }
  for (std::string& note : grading.notes()) notes.push_back(std::move(note));
  for (const StudentResult& student : results) {
    for (const std::string& note : student.notes) notes.push_back(student.name + ": " + note);
  }
  if (!options.quiet) print_notes(notes);
  return results;
}

exercises::Costs best_ever(const GradeOptions& options, const exercises::Exercise& exercise,
                           const std::vector<StudentResult>& students) {
  if (options.best.empty()) return {};
  if (exercise.kind != exercises::Kind::kProgram) {
    throw request_failure("--best keeps costs, and " + exercise.id + " has none");
  }
  // All right programs are counted at the same size, which may be one that the seed draws.
  const auto right = std::find_if(students.begin(), students.end(), [](const auto& student) {
    return student.verdict->passed() && !student.verdict->costs.empty();
  });
  const exercises::Size& size =
      right == students.end() ? exercise.program.sizes.back() : right->verdict->size;
  BestEver best = update_best_file(options.best, exercise.id, size, exercises::best_of(students));
  if (!options.quiet && !best.note.empty()) print_notes({best.note});
  return std::move(best.costs);
}

void rename_students(const GradeOptions& options, std::vector<StudentResult>& students,
                     std::vector<StudentResult>& skipped) {
  if (options.names_students()) return;
  const Names names = options.names == "none" ? Names::kNone : Names::kPseudonym;
  exercises::rename_students(students, names, options.names_key);
  exercises::rename_students(skipped, names, options.names_key);
  for (StudentResult& entry : skipped) entry.name += " (skipped)";  // a student may have this name
}

/// Runs several pieces of work and collects their failures, so that one failure does not
/// stop the others.
class Attempts {
 public:
  template <class Work>
  void operator()(const Work& work) {
    try {
      work();
    } catch (const Failure& failure) {
      failures_.push_back(failure);
    }
  }
  /// Prints all failures except the last, which it throws. `kept`: the verdicts are in a journal.
  void end(bool kept) const {
    if (failures_.empty()) return;
    for (std::size_t i = 0; i + 1 < failures_.size(); ++i) std::cerr << failures_[i].what();
    const std::string more =
        kept ? "flashlab: note: the results are kept: the same command with --resume writes the "
               "reports without grading again\n"
             : "";
    const Failure& last = failures_.back();
    throw Failure(last.code(), last.what() + more, last.diagnostics());
  }

  /// Throws the first failure, which tells how many more files `where` are missing.
  void end_with_first(const std::string& where) const {
    if (failures_.empty()) return;
    const std::size_t more = failures_.size() - 1;
    const Failure& first = failures_.front();
    throw Failure(first.code(),
                  first.what() + (more == 0 ? ""
                                            : "flashlab: note: " + std::to_string(more) +
                                                  " more files " + where + " are missing\n"),
                  first.diagnostics());
  }

 private:
  std::vector<Failure> failures_;
};

void write_gradescope_files(const GradeOptions& options, const ClassReport& report,
                            Attempts& attempt) {
  const auto write = [&](const std::string& path, const StudentResult& student) {
    write_file(path, [&](std::ostream& out) {
      exercises::write_gradescope(out, student, {options.hide_costs});
    });
  };
  if (options.single()) {
    return attempt([&] { write(options.gradescope, report.students.front()); });
  }
  std::error_code code;
  std::filesystem::create_directories(options.gradescope, code);
  if (!std::filesystem::is_directory(options.gradescope)) {
    return attempt([&] {
      throw request_failure("--gradescope '" + printable(options.gradescope) + "' is not a folder",
                            "a folder: it gets one file for each student");
    });
  }
  // A full disk fails for every student: one error, and how many files are missing.
  Attempts files;
  for (const auto* const all : {&report.students, &report.skipped}) {
    for (const StudentResult& student : *all) {
      files([&] {
        write(options.gradescope + "/" + exercises::safe_file_name(student.name) + ".json",
              student);
      });
    }
  }
  attempt([&] { files.end_with_first("in '" + printable(options.gradescope) + "'"); });
}

void write_reports(const GradeOptions& options, const ClassReport& report, Attempts& attempt) {
  const auto write = [&](const std::string& path, auto writer) {
    if (path.empty()) return;
    attempt([&] { write_file(path, [&](std::ostream& out) { writer(out, report); }); });
  };
  write(options.json, exercises::write_json);
  write(options.csv, [&](std::ostream& out, const ClassReport& all) {
    if (options.add_bom) out << exercises::kByteOrderMark;
    exercises::write_csv(out, all);
  });
  write(options.junit, exercises::write_junit);
  write(options.html, exercises::write_html);
  if (!options.gradescope.empty()) write_gradescope_files(options, report, attempt);
}

void print_single(const exercises::Exercise& exercise, const ClassReport& report,
                  const Terminal& terminal) {
  const exercises::Verdict& verdict = *report.students.front().verdict;
  std::cout << styled(exercise.id + ": " + printable(exercise.title), Style::kBold, terminal)
            << "\n"
            << verdict_text(verdict, report.best_ever, terminal);
  std::cout << "\n";
  for (const std::string& line : wrap(next_step(exercise, verdict), terminal.width)) {
    std::cout << line << "\n";
  }
}

void print_class(const exercises::Exercise& exercise, const ClassReport& report,
                 const Terminal& terminal) {
  std::cout << styled(exercise.id + ": " + printable(exercise.title), Style::kBold, terminal)
            << "\n\n"
            << class_table(report, terminal);
  std::cout << speed_ranking(report, terminal);
  for (const exercises::Histogram& histogram : report.histograms) {
    std::cout << "\n" << histogram_text(histogram, terminal);
  }
  if (report.proof_histogram) {
    std::cout << "\n" << histogram_text(*report.proof_histogram, terminal);
  }
}

ClassReport make_report(const GradeOptions& options, const exercises::Exercise& exercise,
                        std::vector<StudentResult> students, exercises::Costs best,
                        std::vector<StudentResult> skipped, const GradingSeed& seed) {
  ClassReport report = exercises::make_class_report(exercise, std::move(students), std::move(best),
                                                    std::move(skipped));
  const char* const time = options.device.empty() ? kPredictedTime : kMeasuredTime;
  auto& keys = report.cost_keys;
  if (exercise.program.speed && std::find(keys.begin(), keys.end(), time) == keys.end()) {
    keys.push_back(time);
  }
  if (options.names_students()) report.seed = seed.shown;
  return report;
}

int grade(GradeOptions options) {
  options.check();
  const bool assignment = is_assignment(options.id);
  if (assignment && !options.device.empty()) {
    throw request_failure("--device with an assignment", "one exercise, which is about speed");
  }
  if (assignment) check_assignment_flags(options);
  const ExercisePointer found = assignment ? nullptr : find_exercise(options.id, options.exercises);
  if (found != nullptr && !options.quiet) warn_if_replaced(*found);
  if (assignment) {
    return !grade_assignment(options) && options.fail_on_wrong ? kExitProgramWrong : kExitGood;
  }
  std::unique_ptr<ClassGrading> made;
  const GradingSeed seed = choose_fair_seed(options, [&](const GradeOptions& tried) {
    options = tried;
    made = std::make_unique<ClassGrading>(options, found);
    return made->is_solution_right();
  });
  if (!options.quiet) print_notes(seed.notes);
  const exercises::Exercise& exercise = *found;
  if (made == nullptr) made = std::make_unique<ClassGrading>(options, found);
  ClassGrading& grading = *made;
  std::vector<StudentResult> skipped;
  std::vector<StudentResult> students = options.reads_standard_input()
                                            ? grade_standard_input(exercise, grading)
                                            : grade_files(options, exercise, grading, skipped);
  if (!options.device.empty()) grading.measure(students);
  Attempts attempt;
  exercises::Costs best;
  attempt([&] { best = best_ever(options, exercise, students); });
  rename_students(options, students, skipped);
  ClassReport report = make_report(options, exercise, std::move(students), std::move(best),
                                   std::move(skipped), seed);
  report.isolation = grading.isolation();
  write_reports(options, report, attempt);
  if (!options.quiet && !options.writes_standard_output()) {
    const Terminal terminal = options.terminal.terminal();
    (options.single() ? print_single : print_class)(exercise, report, terminal);
    print_seed(seed, terminal);
  }
  attempt.end(!options.all_folder.empty());
  grading.finish();  // the journal keeps results that could not be reported
  const bool all_right = report.passed() == report.students.size();
  return options.fail_on_wrong && !all_right ? kExitProgramWrong : kExitGood;
}

}  // namespace

CommandAction add_grade(CLI::App& app) {
  CLI::App& command = add_command(
      app, "grade", "Grade one submission of an exercise, a class, or an assignment.",
      "  flashlab grade 8 anna.toy                      one submission, explained\n"
      "  flashlab grade 8 --all class/ --html a.html    a file or folder for each student\n"
      "  flashlab grade 8 --all class/ --names pseudonym --seed 4711 --csv marks.csv\n"
      "  flashlab grade 8 - --gradescope results.json < anna.toy\n"
      "  flashlab grade 37 --all class/ --device cuda   times on this computer's GPU\n"
      "  flashlab grade assignments/naive_to_flash --all class/   all parts, points added up\n");
  const auto options = std::make_shared<GradeOptions>();
  options->add_to(command);
  return [options] { return grade(*options); };
}

}  // namespace flashlab::cli
