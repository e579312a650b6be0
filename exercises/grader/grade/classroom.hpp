// Grades many submissions of one exercise in several threads. A result depends neither on other
// students' submissions nor on the number of threads.
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
  std::string name;                        // as Submission::name, or its replacement
  std::shared_ptr<const Verdict> verdict;  // equal submissions may share one
  std::vector<std::string> notes;          // for the teacher: other files beside the submission
};

/// Completes the verdict on a text with what this library cannot know: the time on a GPU.
using VerdictStep =
    std::function<void(const Exercise& exercise, const std::string& text, Verdict& verdict)>;

/// Grades texts one after the other, as grade_text does. Used by one thread at a time.
class TextGrader {
 public:
  virtual ~TextGrader() = default;
  virtual std::shared_ptr<const Verdict> grade(const std::string& text) = 0;
};

/// Verdicts by the SHA-256 of the submitted text.
using KnownVerdicts = std::map<Digest, std::shared_ptr<const Verdict>>;

/// Returns a grader in this process. A text that crashes the grader ends the process.
std::unique_ptr<TextGrader> text_grader(const Grader& grader, VerdictStep step = {});

struct ClassOptions {
  std::size_t jobs = 1;
  /// Called occasionally by the thread that called grade_class, with the number of students done.
  std::function<void(std::size_t)> progress = {};
  /// Called by each thread to create its own grader.
  std::function<std::unique_ptr<TextGrader>()> make_grader = {};
  /// Verdicts that need not be computed again.
  KnownVerdicts known = {};
  /// Called with each new verdict, by one thread at a time.
  std::function<void(const Digest& text, const Verdict& verdict)> graded = {};
};

/// Grades one text. Every failure becomes the verdict. Its findings are safe to show, at most
/// kMostFindings of them. They use the exercise's work file as the submission's file name.
inline constexpr std::size_t kMostFindings = 8;
Verdict grade_text(const Grader& grader, const std::string& text, const VerdictStep& step = {});

/// Grades with Grader::grade(name, text), and completes the verdict within what is left of the
/// submission's limits. If that does not suffice, the verdict is one about a limit.
Verdict grade_with(const Grader& grader, const std::string& name, const std::string& text,
                   const VerdictStep& step);

/// Returns the verdict on a submission that exceeded a limit or crashed the grader.
Verdict over_limit(const Exercise& exercise, const std::string& what);
Verdict crashed(const Exercise& exercise, const std::string& what);

/// Returns the verdict on a submission that could not be read.
Verdict refused(const Exercise& exercise, const SubmissionText& read);

/// Grades all students and keeps their order. Throws exceptions of make_grader.
std::vector<StudentResult> grade_class(const Exercise& exercise,
                                       const std::vector<Submission>& students,
                                       const ClassOptions& options);
/// Does the same with text_grader().
std::vector<StudentResult> grade_class(const Grader& grader,
                                       const std::vector<Submission>& students,
                                       ClassOptions options);

}  // namespace flashlab::exercises
