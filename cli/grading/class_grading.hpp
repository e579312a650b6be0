// Grades a class in worker processes, with a journal beside its folder.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/exercises/learner.hpp"
#include "cli/grading/grade_options.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/isolation/isolated_grader.hpp"
#include "exercises/isolation/journal.hpp"

namespace flashlab::cli {

class ClassGrading {
 public:
  /// With --resume, takes over the journals of earlier gradings of this class.
  ClassGrading(const GradeOptions& options, ExercisePointer exercise);

  /// Grades the students; `progress` as in ClassOptions. Throws Failure.
  std::vector<exercises::StudentResult> grade(const std::vector<exercises::Submission>& students,
                                              const std::function<void(std::size_t)>& progress);

  /// Grades one text, from standard input.
  std::shared_ptr<const exercises::Verdict> grade(const std::string& text);

  /// Measures the right submissions that this object graded on the GPU, one after the other, and
  /// replaces their predicted times. Throws Failure: no GPU, or the exercise is not about speed.
  void measure(std::vector<exercises::StudentResult>& students) const;

  /// Whether the exercise's own solution is right on the inputs that the seed draws. If not, no grade
  /// with it is fair: a sum in which terms cancel may be wrong by more than the tolerance.
  bool is_solution_right();

  /// Returns how submissions were separated, for the reports.
  std::string isolation() const;
  /// Returns notes for the teacher: a kernel without isolation, results that are not on disk, an
  /// earlier grading that was interrupted.
  std::vector<std::string> notes() const;

  /// Removes the journals, after everything is reported.
  void finish();

 private:
  std::unique_ptr<exercises::TextGrader> make_grader();
  exercises::GraderOptions grader_options() const;
  std::unique_ptr<exercises::TextGrader> make_worker();
  bool has_journal() const { return !options_.all_folder.empty(); }

  const GradeOptions& options_;
  ExercisePointer exercise_;
  std::unique_ptr<const exercises::Grader> own_;  // --in-process
  std::mutex mutex_;
  std::unique_ptr<exercises::IsolatedGrader> first_;  // until a thread takes it
  std::unique_ptr<exercises::TextGrader> spare_;      // that graded the solution, likewise
  exercises::Sandbox sandbox_;
  exercises::JournalFindings found_;
  std::unique_ptr<exercises::Journal> journal_;
  std::map<std::shared_ptr<const exercises::Verdict>, std::string> texts_;  // for measure()
};

}  // namespace flashlab::cli
