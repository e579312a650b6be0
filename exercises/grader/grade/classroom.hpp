// Many submissions of one exercise, graded by several threads. No result depends on another
// student's, nor on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/submission/submission_file.hpp"
#include "text/sha256.hpp"

namespace flashlab::exercises {

struct StudentResult {
  std::string name;                        // as Submission::name, or what it is replaced by
  std::shared_ptr<const Verdict> verdict;  // equal submissions may share one
  std::vector<std::string> notes;          // for the teacher: what lay beside the submission
};

/// Grades texts one after the other, as grade_text does. Used by one thread at a time.
class TextGrader {
 public:
  virtual ~TextGrader() = default;
  virtual std::shared_ptr<const Verdict> grade(const std::string& text) = 0;
};

/// Verdicts by the SHA-256 of the text that they are on.
using KnownVerdicts = std::map<Digest, std::shared_ptr<const Verdict>>;

/// In this process: a text that crashes the grader ends it.
std::unique_ptr<TextGrader> text_grader(const Grader& grader);

struct ClassOptions {
  std::size_t jobs = 1;
  /// Called now and then by the thread that called grade_class, with how many are done.
  std::function<void(std::size_t)> progress = {};
  /// Called by each thread, for a grader of its own.
  std::function<std::unique_ptr<TextGrader>()> make_grader = {};
  /// What need not be graded any more.
  KnownVerdicts known = {};
  /// Called with each new verdict, by one thread at a time.
  std::function<void(const Digest& text, const Verdict& verdict)> graded = {};
};

/// One text. Whatever goes wrong becomes the verdict. Its findings are fit to be shown, at most
/// kMostFindings of them; the submission's file is called by the exercise's work file.
inline constexpr std::size_t kMostFindings = 8;
Verdict grade_text(const Grader& grader, const std::string& text);

/// The verdict on something that the grader did not survive.
Verdict over_limit(const Exercise& exercise, const std::string& what);
Verdict crashed(const Exercise& exercise, const std::string& what);

/// The verdict on something that could not be read.
Verdict refused(const Exercise& exercise, const SubmissionText& read);

/// All of them, in the order given. Throws what making a grader throws.
std::vector<StudentResult> grade_class(const Exercise& exercise,
                                       const std::vector<Submission>& students,
                                       const ClassOptions& options);
/// The same with text_grader().
std::vector<StudentResult> grade_class(const Grader& grader,
                                       const std::vector<Submission>& students,
                                       ClassOptions options);

}  // namespace flashlab::exercises
