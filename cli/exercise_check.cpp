#include "cli/exercise_check.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "cli/failure.hpp"
#include "cli/files.hpp"
#include "cli/verdict_text.hpp"
#include "exercises/grader/reports.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;
using exercises::Outcome;
using exercises::ProgressState;
using exercises::Verdict;

ProgressState state_of(const Verdict& verdict) {
  if (verdict.outcome == Outcome::kFull) return ProgressState::kFull;
  return verdict.passed() ? ProgressState::kPassed : ProgressState::kStarted;
}

std::string so_far(const exercises::ProgressEntry* entry, const Verdict& verdict) {
  if (entry == nullptr || entry->points <= verdict.points) return "";
  return "Your best so far: " + exercises::points_text(entry->points) + " of " +
         points_text(verdict.max_points) + ".\n";
}

}  // namespace

void add_work_argument(CLI::App& command, std::vector<std::string>& words) {
  command
      .add_option("work", words,
                  "an exercise, a file that is named after one, or both; what was started last "
                  "without")
      ->expected(0, 2)
      ->type_name("[ID] [FILE]");
}

exercises::Grader make_grader(const ExercisePointer& exercise) {
  try {
    return exercises::Grader(exercise);
  } catch (const std::runtime_error& error) {
    throw request_failure(
        "the exercise '" + printable(exercise->id) + "' is broken: " + printable(error.what()),
        "see `flashlab exercises lint " + printable(exercise->id) + "`");
  }
}

std::shared_ptr<const toy::SourceText> read_work(const Work& work) {
  std::error_code code;
  if (!fs::exists(work.file, code)) {
    throw request_failure(
        "there is no file '" + printable(work.file) + "'",
        "`flashlab exercises start " + printable(work.exercise->id) + "` makes one");
  }
  return read_program(work.file, work.exercise->program.limits.max_source_bytes);
}

void remember_verdict(Learner& learner, const Work& work, const Verdict& verdict) {
  std::error_code code;
  const fs::path path = fs::canonical(work.file, code);
  learner.remember([&](exercises::Progress& progress) {
    auto& entry = progress.entry(work.exercise->id);
    ++entry.checks;
    entry.points = std::max(entry.points, verdict.points);
    entry.state = std::max(entry.state, state_of(verdict));
    if (!code) entry.file = path.string();
    progress.set_current(work.exercise->id);
  });
}

std::string check_text(const Learner& learner, const Work& work, const Verdict& verdict,
                       const toy::SourceText& source, const Terminal& terminal) {
  const std::string id = printable(work.exercise->id);
  std::string text = printable(source.name()) + ": " + verdict_text(verdict, {}, terminal) + "\n" +
                     so_far(learner.progress().find(work.exercise->id), verdict);
  if (verdict.outcome == Outcome::kCostly) {
    text += "It is right, and done. It may cost less: flashlab exercises hint " + id + "\n";
  }
  if (!verdict.passed()) return text + "Stuck? flashlab exercises hint " + id + "\n";
  return text + learner.next_line(work.exercise->id) + "\n";
}

int exit_code_of(const Verdict& verdict) {
  if (verdict.passed()) return kExitGood;
  if (verdict.outcome == Outcome::kLimit) return kExitLimit;
  return verdict.outcome == Outcome::kUnreadable ? kExitRequestWrong : kExitProgramWrong;
}

}  // namespace flashlab::cli
