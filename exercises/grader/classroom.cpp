#include "exercises/grader/classroom.hpp"

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

#include "exercises/grader/visible_text.hpp"
#include "toymachine/sha256.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kLongestLine = 400;  // bytes of a line that is shown
constexpr std::size_t kMostDetails = 40;   // lines
constexpr std::chrono::milliseconds kProgressEvery{100};

Verdict with_finding(const Grader& grader, Outcome outcome, std::string what) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.max_points = grader.exercise().max_points();
  Finding finding;
  finding.what = std::move(what);
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

/// Nothing of what was submitted is shown raw, and no verdict is large.
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

/// Characters that nobody sees can make a line look like another.
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

/// Verdicts by the digest of the text.
class Verdicts {
 public:
  std::shared_ptr<const Verdict> find(const toy::Digest& digest) {
    const std::lock_guard lock(mutex_);
    const auto found = by_text_.find(digest);
    return found == by_text_.end() ? nullptr : found->second;
  }
  void add(const toy::Digest& digest, const std::shared_ptr<const Verdict>& verdict) {
    const std::lock_guard lock(mutex_);
    by_text_.emplace(digest, verdict);
  }

 private:
  std::mutex mutex_;
  std::map<toy::Digest, std::shared_ptr<const Verdict>> by_text_;
};

/// What the threads share: the next student, and how many are done.
class Work {
 public:
  Work(const Grader& grader, const std::vector<Submission>& students)
      : grader_(grader), students_(students), results_(students.size()) {}

  void run_worker() {
    for (std::size_t i = next_++; i < students_.size(); i = next_++) {
      results_[i] = grade(students_[i]);
      ++done_;
    }
    const std::lock_guard lock(mutex_);
    finished_.notify_all();
  }

  void watch(const std::function<void(std::size_t)>& progress) {
    std::unique_lock lock(mutex_);
    while (done_ < students_.size()) {
      finished_.wait_for(lock, kProgressEvery);
      if (progress) progress(done_);
    }
    if (progress) progress(done_);
  }

  std::vector<StudentResult> results() { return std::move(results_); }

 private:
  StudentResult grade(const Submission& student) {
    StudentResult result;
    result.name = student.name;
    try {
      SubmissionText read = read_submission_file(student.path, grader_.exercise());
      result.notes = std::move(read.notes);
      result.verdict = read.readable ? graded(read.text)
                                     : std::make_shared<const Verdict>(refused(grader_, read));
    } catch (const std::bad_alloc&) {
      result.verdict = std::make_shared<const Verdict>(
          with_finding(grader_, Outcome::kLimit, "not enough memory to read it"));
    }
    return result;
  }

  std::shared_ptr<const Verdict> graded(const std::string& text) {
    const toy::Digest digest = toy::sha256(text);
    std::shared_ptr<const Verdict> verdict = verdicts_.find(digest);
    if (verdict == nullptr) {
      verdict = std::make_shared<const Verdict>(grade_text(grader_, text));
      verdicts_.add(digest, verdict);
    }
    return verdict;
  }

  const Grader& grader_;
  const std::vector<Submission>& students_;
  std::vector<StudentResult> results_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::mutex mutex_;
  std::condition_variable finished_;
  Verdicts verdicts_;
};

}  // namespace

Verdict grade_text(const Grader& grader, const std::string& text) {
  Verdict verdict;
  try {
    verdict = grader.grade(grader.exercise().work_file(), text);
  } catch (const std::bad_alloc&) {
    verdict = with_finding(grader, Outcome::kLimit, "grading it takes more memory than there is");
  } catch (const std::exception& error) {
    verdict = with_finding(grader, Outcome::kUnreadable,
                           std::string("the grader failed, please report this: ") + error.what());
  }
  report_odd_characters(text, verdict);
  make_presentable(verdict);
  return verdict;
}

Verdict refused(const Grader& grader, const SubmissionText& read) {
  Verdict verdict = with_finding(grader, read.outcome, read.problem);
  make_presentable(verdict);
  return verdict;
}

std::vector<StudentResult> grade_class(const Grader& grader,
                                       const std::vector<Submission>& students,
                                       const ClassOptions& options) {
  Work work(grader, students);
  const std::size_t jobs =
      std::clamp<std::size_t>(options.jobs, 1, std::max<std::size_t>(1, students.size()));
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 0; i < jobs; ++i) threads.emplace_back([&work] { work.run_worker(); });
  } catch (const std::system_error&) {
    if (threads.empty()) throw;  // fewer threads than asked for do the same work
  }
  work.watch(options.progress);
  for (std::thread& thread : threads) thread.join();
  return work.results();
}

}  // namespace flashlab::exercises
