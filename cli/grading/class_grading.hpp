// A class, graded by workers, with a journal beside its folder.
#pragma once

#include <functional>
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
  /// With --resume, what earlier gradings of this class left is taken over.
  ClassGrading(const GradeOptions& options, ExercisePointer exercise);

  /// Grades them, `progress` as ClassOptions has it. Throws Failure.
  std::vector<exercises::StudentResult> grade(const std::vector<exercises::Submission>& students,
                                              const std::function<void(std::size_t)>& progress);

  /// One text, from standard input.
  std::shared_ptr<const exercises::Verdict> grade(const std::string& text);

  /// What kept submissions apart: for the reports.
  std::string isolation() const;
  /// What the teacher should know: a kernel without walls, results that are not on disk, an earlier
  /// grading that was broken off.
  std::vector<std::string> notes() const;

  /// All is reported: the journals have done their work.
  void finish();

 private:
  std::unique_ptr<exercises::TextGrader> make_grader();
  exercises::GraderOptions grader_options() const;
  bool has_journal() const { return !options_.all_folder.empty(); }

  const GradeOptions& options_;
  ExercisePointer exercise_;
  std::unique_ptr<const exercises::Grader> own_;  // --in-process
  std::mutex mutex_;
  std::unique_ptr<exercises::IsolatedGrader> first_;  // until a thread takes it
  exercises::Sandbox sandbox_;
  exercises::JournalFindings found_;
  std::unique_ptr<exercises::Journal> journal_;
};

}  // namespace flashlab::cli
