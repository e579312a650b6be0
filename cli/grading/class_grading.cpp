#include "cli/grading/class_grading.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "cli/exercises/worker_command.hpp"
#include "cli/gpu/speed.hpp"
#include "cli/grading/kept_seed.hpp"
#include "cli/options/version.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "exercises/grader/report/pseudonyms.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

/// A worker. Converts its errors into Failure.
class ProtectedGrader : public exercises::TextGrader {
 public:
  explicit ProtectedGrader(std::unique_ptr<exercises::IsolatedGrader> grader)
      : grader_(std::move(grader)) {}
  std::shared_ptr<const exercises::Verdict> grade(const std::string& text) override {
    try {
      return grader_->grade(text);
    } catch (const exercises::WorkerError& error) {
      throw request_failure(error.what(), "memory and processes for one worker for each of --jobs");
    }
  }

 private:
  std::unique_ptr<exercises::IsolatedGrader> grader_;
};

/// Tells each graded text.
class TellingGrader : public exercises::TextGrader {
 public:
  using Tell =
      std::function<void(const std::string& text, std::shared_ptr<const exercises::Verdict>)>;
  TellingGrader(std::unique_ptr<exercises::TextGrader> grader, Tell tell)
      : grader_(std::move(grader)), tell_(std::move(tell)) {}
  std::shared_ptr<const exercises::Verdict> grade(const std::string& text) override {
    auto verdict = grader_->grade(text);
    tell_(text, verdict);
    return verdict;
  }

 private:
  std::unique_ptr<exercises::TextGrader> grader_;
  Tell tell_;
};

/// Folders for the journal: beside the class, then the user's state folder, then
/// the temporary folder.
exercises::JournalPlace place_of(const GradeOptions& options, const exercises::Exercise& exercise,
                                 const exercises::GraderOptions& grader_options) {
  std::error_code code;
  std::filesystem::path folder = std::filesystem::canonical(options.all_folder, code);
  if (code) folder = std::filesystem::absolute(options.all_folder, code);
  exercises::JournalPlace place;
  place.stem = exercises::safe_file_name(folder.filename().string());
  place.key = exercises::journal_key(exercise, grader_options, version_text());
  place.folders.push_back(folder.parent_path().string());
  if (const std::string state = state_folder(); !state.empty()) place.folders.push_back(state);
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(code);
  if (!code) place.folders.push_back(temporary.string());
  return place;
}

}  // namespace

ClassGrading::ClassGrading(const GradeOptions& options, ExercisePointer exercise)
    : options_(options), exercise_(std::move(exercise)) {
  if (options_.in_process) {
    try {
      own_ = std::make_unique<const exercises::Grader>(exercise_, grader_options());
    } catch (const std::runtime_error& error) {
      throw request_failure("the exercise '" + printable(exercise_->id) +
                            "' is broken: " + printable(error.what()));
    }
  } else {
    first_ = isolated_grader(exercise_, grader_options());
    sandbox_ = first_->sandbox();
  }
  if (!has_journal()) return;
  const exercises::JournalPlace place = place_of(options_, *exercise_, grader_options());
  found_ = exercises::find_journals(place);
  journal_ = std::make_unique<exercises::Journal>(place);
  if (!options_.resume) return;
  for (const auto& [text, verdict] : found_.verdicts) journal_->add(text, *verdict);
}

exercises::GraderOptions ClassGrading::grader_options() const {
  exercises::GraderOptions result;
  result.seed = options_.inputs_seed;
  if (options_.time_limit > 0) {
    result.milliseconds = std::max<std::int64_t>(1, std::llround(options_.time_limit * 1000));
  }
  if (!options_.memory_limit.empty()) result.bytes = parse_memory_limit(options_.memory_limit);
  return result;
}

std::unique_ptr<exercises::TextGrader> ClassGrading::make_grader() {
  auto grader = make_worker();
  if (options_.device.empty()) return grader;
  return std::make_unique<TellingGrader>(
      std::move(grader),
      [this](const std::string& text, std::shared_ptr<const exercises::Verdict> verdict) {
        const std::lock_guard lock(mutex_);
        texts_[std::move(verdict)] = text;
      });
}

std::unique_ptr<exercises::TextGrader> ClassGrading::make_worker() {
  if (own_ != nullptr) return exercises::text_grader(*own_, add_predicted_time);
  {
    const std::lock_guard lock(mutex_);
    if (spare_ != nullptr) return std::move(spare_);
    if (first_ != nullptr) return std::make_unique<ProtectedGrader>(std::move(first_));
  }
  return std::make_unique<ProtectedGrader>(isolated_grader(exercise_, grader_options()));
}

bool ClassGrading::is_solution_right() {
  const auto solution = exercise_->files.find("solution.toy");
  if (solution == exercise_->files.end()) return true;
  std::unique_ptr<exercises::TextGrader> grader = make_worker();
  const auto verdict = grader->grade(solution->second);
  const bool is_right = verdict->passed();
  if (verdict->outcome == exercises::Outcome::kLimit &&
      (options_.time_limit > 0 || !options_.memory_limit.empty())) {
    const std::string why =
        verdict->findings.empty() ? "" : " (" + printable(verdict->findings.front().what) + ")";
    throw request_failure(std::string(options_.time_limit > 0
                                          ? "--time-limit " + shortest_text(options_.time_limit)
                                          : "--memory-limit " + in_quotes(options_.memory_limit)) +
                              " is too small for the exercise's own solution" + why +
                              ", so nothing was graded",
                          "a larger limit, or none: the exercise has its own");
  }
  spare_ = std::move(grader);
  return is_right;
}

std::vector<exercises::StudentResult> ClassGrading::grade(
    const std::vector<exercises::Submission>& students,
    const std::function<void(std::size_t)>& progress) {
  exercises::ClassOptions class_options;
  class_options.jobs = options_.jobs;
  class_options.progress = progress;
  class_options.make_grader = [this] { return make_grader(); };
  if (options_.resume) class_options.known = found_.verdicts;
  if (journal_ != nullptr) {
    class_options.graded = [this](const Digest& text, const exercises::Verdict& verdict) {
      journal_->add(text, verdict);
    };
  }
  return exercises::grade_class(*exercise_, students, class_options);
}

std::shared_ptr<const exercises::Verdict> ClassGrading::grade(const std::string& text) {
  return make_grader()->grade(text);
}

void ClassGrading::measure(std::vector<exercises::StudentResult>& students) const {
  if (!exercise_->program.speed) {
    throw request_failure(
        "--device cuda measures times, and " + printable(exercise_->id) + " is not about speed",
        "an exercise with [speed]");
  }
  SpeedRequest request;
  request.seed = options_.inputs_seed;
  const SpeedMeter meter(*exercise_, request);
  std::map<std::string, std::shared_ptr<const exercises::Verdict>> measured;  // by text
  for (exercises::StudentResult& student : students) {
    const auto text = texts_.find(student.verdict);
    if (text == texts_.end() || !student.verdict->passed()) continue;
    auto& result = measured[text->second];
    if (result == nullptr) {
      exercises::Verdict verdict = *student.verdict;
      meter.measure(text->second, verdict);
      result = std::make_shared<const exercises::Verdict>(std::move(verdict));
    }
    student.verdict = result;
  }
}

std::string ClassGrading::isolation() const {
  if (own_ != nullptr) return "none: all submissions in one process (--in-process)";
  return "each submission in a worker process: memory, processor time, files and processes "
         "limited, " +
         exercises::to_string(sandbox_);
}

std::vector<std::string> ClassGrading::notes() const {
  std::vector<std::string> all;
  if (own_ == nullptr && !sandbox_.filters_calls && !sandbox_.locks_files) {
    all.push_back(
        "this kernel offers neither seccomp nor Landlock: workers have limits on memory, time, "
        "files "
        "and processes, and no more");
  }
  if (journal_ != nullptr && !journal_->problem().empty()) {
    all.push_back("results are not kept on disk while grading goes on: " + journal_->problem());
  }
  const std::size_t found = found_.verdicts.size();
  if (found > 0) {
    const std::string results = std::to_string(found) + (found == 1 ? " result" : " results");
    all.push_back(options_.resume ? "taken over from an earlier grading: " + results
                                  : "an earlier grading of this class was interrupted; --resume "
                                    "would have taken over its " +
                                        results);
  }
  return all;
}

void ClassGrading::finish() {
  if (journal_ == nullptr) return;
  journal_->remove();
  for (const std::string& path : found_.abandoned) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

}  // namespace flashlab::cli
