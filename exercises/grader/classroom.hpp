// Many submissions of one exercise, graded by several threads. No result depends on another
// student's, nor on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/grader.hpp"
#include "exercises/grader/submission_file.hpp"
#include "exercises/grader/verdict.hpp"

namespace flashlab::exercises {

struct StudentResult {
  std::string name;                        // as Submission::name, or what it is replaced by
  std::shared_ptr<const Verdict> verdict;  // equal submissions may share one
  std::vector<std::string> notes;          // for the teacher: what lay beside the submission
};

struct ClassOptions {
  std::size_t jobs = 1;
  /// Called now and then by the thread that called grade_class, with how many are done.
  std::function<void(std::size_t)> progress;
};

/// One text. Whatever goes wrong becomes the verdict. Its findings are fit to be shown, at most
/// kMostFindings of them; the submission's file is called by the exercise's work file.
inline constexpr std::size_t kMostFindings = 8;
Verdict grade_text(const Grader& grader, const std::string& text);

/// The verdict on something that could not be read.
Verdict refused(const Grader& grader, const SubmissionText& read);

/// All of them, in the order given.
std::vector<StudentResult> grade_class(const Grader& grader,
                                       const std::vector<Submission>& students,
                                       const ClassOptions& options);

}  // namespace flashlab::exercises
