#include "exercises/grader/grade/classroom.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "text/sha256.hpp"
#include "text/visible.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kLongestLine = 400;  // bytes of a line that is shown
constexpr std::size_t kMostDetails = 40;   // lines
constexpr std::chrono::milliseconds kProgressEvery{100};

Verdict with_finding(const Exercise& exercise, Outcome outcome, std::string what) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.max_points = exercise.max_points();
  Finding finding;
  finding.what = std::move(what);
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

/// Makes all texts of a verdict safe to show, and limits its size.
void make_presentable(Verdict& verdict) {
  const std::size_t all = verdict.findings.size();
  if (all > kMostFindings) {
    verdict.findings.resize(kMostFindings);
    Finding rest;
    rest.what = std::to_string(all - kMostFindings) + " more are not shown";
    verdict.findings.push_back(std::move(rest));
  }
  const auto clean = [](std::string& text) { text = visible_start(text, kLongestLine); };
  for (Finding& finding : verdict.findings) {
    clean(finding.what);
    clean(finding.inputs);
    if (finding.details.size() > kMostDetails) finding.details.resize(kMostDetails);
    std::for_each(finding.details.begin(), finding.details.end(), clean);
  }
  for (Check& check : verdict.checks) clean(check.name), clean(check.message);
}

/// Reports invisible characters, which can make one line look like another.
void report_odd_characters(const std::string& text, Verdict& verdict) {
  const auto odd = find_odd_character(text);
  if (!odd) return;
  Finding finding;
  finding.line = odd->line;
  finding.what = "column " + std::to_string(odd->column) +
                 " has a character that is not visible, " + odd->escape;
  if (odd->count > 1) {
    finding.what += " (the first of " + std::to_string(odd->count) + " such characters)";
  }
  verdict.findings.push_back(std::move(finding));
}

/// Verdicts by the digest of the submitted text.
class Verdicts {
 public:
  explicit Verdicts(const ClassOptions& options) : options_(options), by_text_(options.known) {}

  std::shared_ptr<const Verdict> find(const Digest& digest) {
    const std::lock_guard lock(mutex_);
    const auto found = by_text_.find(digest);
    return found == by_text_.end() ? nullptr : found->second;
  }
  void add(const Digest& digest, const std::shared_ptr<const Verdict>& verdict) {
    const std::lock_guard lock(mutex_);
    if (by_text_.emplace(digest, verdict).second && options_.graded) {
      options_.graded(digest, *verdict);
    }
  }

 private:
  const ClassOptions& options_;
  std::mutex mutex_;
  KnownVerdicts by_text_;
};

/// State shared by the threads: the next student, the number done, and the first error.
class Work {
 public:
  Work(const Exercise& exercise, const std::vector<Submission>& students,
       const ClassOptions& options)
      : exercise_(exercise),
        students_(students),
        options_(options),
        results_(students.size()),
        verdicts_(options) {}

  void run_worker() {
    try {
      const std::unique_ptr<TextGrader> grader = options_.make_grader();
      for (std::size_t i = next_++; i < students_.size(); i = next_++) {
        results_[i] = grade(students_[i], *grader);
        ++done_;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      next_ = students_.size();
    }
    const std::lock_guard lock(mutex_);
    --running_;
    finished_.notify_all();
  }

  void begin() {
    const std::lock_guard lock(mutex_);
    ++running_;
  }

  void withdraw() {
    const std::lock_guard lock(mutex_);
    --running_;
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      finished_.wait_for(lock, kProgressEvery);
      if (options_.progress) options_.progress(done_);
    }
    if (options_.progress) options_.progress(done_);
  }

  /// Rethrows a thread's exception.
  std::vector<StudentResult> results() {
    if (error_) std::rethrow_exception(error_);
    return std::move(results_);
  }

 private:
  StudentResult grade(const Submission& student, TextGrader& grader) {
    StudentResult result;
    result.name = student.name;
    try {
      SubmissionText read = read_submission_file(student.path, exercise_);
      result.notes = std::move(read.notes);
      result.verdict = read.readable ? graded(read.text, grader)
                                     : std::make_shared<const Verdict>(refused(exercise_, read));
    } catch (const std::bad_alloc&) {
      result.verdict = std::make_shared<const Verdict>(
          with_finding(exercise_, Outcome::kLimit, "not enough memory to read it"));
    }
    return result;
  }

  std::shared_ptr<const Verdict> graded(const std::string& text, TextGrader& grader) {
    const Digest digest = sha256(text);
    std::shared_ptr<const Verdict> verdict = verdicts_.find(digest);
    if (verdict == nullptr) {
      verdict = grader.grade(text);
      verdicts_.add(digest, verdict);
    }
    return verdict;
  }

  const Exercise& exercise_;
  const std::vector<Submission>& students_;
  const ClassOptions& options_;
  std::vector<StudentResult> results_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t running_ = 0;
  std::exception_ptr error_;
  Verdicts verdicts_;
};

/// Grades in this process.
class OwnGrader : public TextGrader {
 public:
  OwnGrader(const Grader& grader, VerdictStep step) : grader_(grader), step_(std::move(step)) {}
  std::shared_ptr<const Verdict> grade(const std::string& text) override {
    return std::make_shared<const Verdict>(grade_text(grader_, text, step_));
  }

 private:
  const Grader& grader_;
  VerdictStep step_;
};

}  // namespace

std::unique_ptr<TextGrader> text_grader(const Grader& grader, VerdictStep step) {
  return std::make_unique<OwnGrader>(grader, std::move(step));
}

Verdict grade_with(const Grader& grader, const std::string& name, const std::string& text,
                   const VerdictStep& step) {
  const std::int64_t start = toy::thread_nanoseconds();
  Verdict verdict = grader.grade(name, text);
  if (!step) return verdict;
  constexpr std::int64_t kNanosecondsOfMillisecond = 1'000'000;
  const std::int64_t used = (toy::thread_nanoseconds() - start) / kNanosecondsOfMillisecond;
  toy::BudgetLimits limits = grader.limits();
  limits.milliseconds = std::max<std::int64_t>(1, limits.milliseconds - used);
  try {
    const toy::Budget budget(limits);
    step(grader.exercise(), text, verdict);
  } catch (const toy::BudgetExceeded& over) {
    verdict = with_finding(grader.exercise(), Outcome::kLimit,
                           std::string("predicting its time takes ") + over.what());
  }
  return verdict;
}

Verdict grade_text(const Grader& grader, const std::string& text, const VerdictStep& step) {
  Verdict verdict;
  try {
    verdict = grade_with(grader, grader.exercise().work_file(), text, step);
  } catch (const std::bad_alloc&) {
    verdict = with_finding(grader.exercise(), Outcome::kLimit,
                           "grading it takes more memory than there is");
  } catch (const std::exception& error) {
    verdict = with_finding(grader.exercise(), Outcome::kCrashed,
                           std::string("the grader failed, please report this: ") + error.what());
  }
  report_odd_characters(text, verdict);
  make_presentable(verdict);
  return verdict;
}

Verdict refused(const Exercise& exercise, const SubmissionText& read) {
  Verdict verdict = with_finding(exercise, read.outcome, read.problem);
  make_presentable(verdict);
  return verdict;
}

Verdict over_limit(const Exercise& exercise, const std::string& what) {
  return with_finding(exercise, Outcome::kLimit, what);
}

Verdict crashed(const Exercise& exercise, const std::string& what) {
  return with_finding(exercise, Outcome::kCrashed, what);
}

std::vector<StudentResult> grade_class(const Exercise& exercise,
                                       const std::vector<Submission>& students,
                                       const ClassOptions& options) {
  Work work(exercise, students, options);
  const std::size_t jobs =
      std::clamp<std::size_t>(options.jobs, 1, std::max<std::size_t>(1, students.size()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < jobs; ++i) {
    work.begin();
    try {
      threads.emplace_back([&work] { work.run_worker(); });
    } catch (const std::system_error&) {
      if (threads.empty()) throw;  // continue with the threads that were started
      work.withdraw();
      break;
    }
  }
  work.watch();
  for (std::thread& thread : threads) thread.join();
  return work.results();
}

std::vector<StudentResult> grade_class(const Grader& grader,
                                       const std::vector<Submission>& students,
                                       ClassOptions options) {
  options.make_grader = [&grader] { return text_grader(grader); };
  return grade_class(grader.exercise(), students, options);
}

}  // namespace flashlab::exercises
