#include "cli/exercises/checked_work.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include "cli/exercises/failing_run_view.hpp"
#include "cli/exercises/verdict_text.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/command_lines.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "exercises/grader/grade/course.hpp"
#include "exercises/grader/judge/predictions.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

/// "2026-11-28T10:00:00Z".
std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

/// What the learner predicted, beside what the program does.
std::string predictions_text(const Learner& learner, const Work& work,
                             const exercises::Verdict& verdict, const Terminal& terminal) {
  std::string text;
  const exercises::Predictions predictions = learner.progress().predictions_of(work.exercise->id);
  for (const exercises::ComparedPrediction& one :
       exercises::compare_predictions(*work.exercise, predictions, verdict)) {
    for (const std::string& line : wrap(exercises::sentence_of(one), terminal.width - 2)) {
      text += "  " + printable(line) + "\n";
    }
  }
  return text.empty() ? "" : "\n" + text;
}

std::string so_far(const exercises::ProgressEntry* entry, const exercises::Exercise& exercise,
                   const exercises::Verdict& verdict) {
  const double best = exercises::best_points(entry, exercise);
  if (best <= verdict.points) return "";
  return "Your best so far: " + exercises::points_text(best) + " of " +
         points_text(verdict.max_points) + ".\n";
}

/// The command that shows at which step a program loses cycles, at the largest size that was
/// searched. Empty if the cheapest program is not known at any size, or if this program is one.
std::string along_line(const Work& work, const exercises::Verdict& verdict) {
  const exercises::SizeScore* searched = nullptr;
  for (const exercises::SizeScore& score : verdict.scores) {
    if (score.proof && score.proof->verdict == exercises::ProofVerdict::kOptimal &&
        !score.is_best()) {
      searched = &score;
    }
  }
  if (searched == nullptr) return {};
  std::string size;
  for (const auto& [name, value] : searched->size) {
    size += (size.empty() ? " --size " : ",") + name + "=" + std::to_string(value);
  }
  return "\n  Step by step: flashlab optimal --exercise " + short_name(*work.exercise) + size +
         " --along " + shown_path(work.file) + "\n";
}

}  // namespace

void add_work_argument(CLI::App& command, std::vector<std::string>& words) {
  add_option(command, "work", words,
             "an exercise, a file named after one, or both (what was started or checked last)")
      .expected(0, 2)
      .file(FileRole::kInput)
      .type_name("[ID] [FILE]");
}

std::shared_ptr<const toy::SourceText> read_work(const Work& work) {
  std::error_code code;
  if (!std::filesystem::exists(work.file, code)) {
    throw request_failure("there is no file '" + printable(work.file) + "'",
                          "one as `flashlab start " + printable(work.exercise->id) + "` makes it");
  }
  return read_program(work.file, work.exercise->program.limits.max_source_bytes);
}

void remember_verdict(Learner& learner, const Work& work, const exercises::Verdict& verdict) {
  std::error_code code;
  const std::filesystem::path path = std::filesystem::canonical(work.file, code);
  learner.remember([&](exercises::Progress& progress) {
    exercises::record_verdict(progress, work.exercise->id, verdict,
                              {utc_time(), code ? std::string() : path.string()});
    if (!code) progress.entry(work.exercise->id).file = path.string();
  });
}

std::string check_text(const Learner& learner, const Work& work, const exercises::Verdict& verdict,
                       const toy::SourceText& source, Explanation explanation,
                       const Terminal& terminal) {
  const std::string id = printable(work.exercise->id);
  const bool full = explanation == Explanation::kFull;
  std::string text = printable(source.name()) + ": " +
                     (full ? verdict_text(verdict, {}, terminal)
                           : brief_verdict_text(*work.exercise, verdict, terminal));
  std::string then;
  if (!full && has_more_to_explain(verdict)) {
    then += "  More: flashlab check " + short_name(*work.exercise) + " --explain\n";
  }
  if (full) then += along_line(work, verdict);
  then += predictions_text(learner, work, verdict, terminal);
  then += "\n" + so_far(learner.progress().find(work.exercise->id), *work.exercise, verdict);
  if (verdict.outcome == exercises::Outcome::kCostly) {
    then += "It is right, and done. It may cost less: flashlab hint " + id + "\n";
  }
  then += debug_hint(work, verdict);
  then += verdict.passed() ? learner.next_line(work.exercise->id) + "\n"
                           : "Stuck? flashlab hint " + id + "\n";
  return text + fitted_lines(then, terminal);
}

int exit_code_of(const exercises::Verdict& verdict) {
  if (verdict.passed()) return kExitGood;
  if (verdict.outcome == exercises::Outcome::kLimit) return kExitLimit;
  return verdict.outcome == exercises::Outcome::kUnreadable ? kExitRequestWrong : kExitProgramWrong;
}

}  // namespace flashlab::cli
