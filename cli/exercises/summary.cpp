// `flashlab exercises summary`: the learner's programs beside the proven best, and the answers to
// the questions after each problem.
#include "cli/exercises/summary.hpp"

#include <algorithm>
#include <iostream>

#include "cli/exercises/checked_work.hpp"
#include "cli/exercises/histogram_text.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/exercises/worker_command.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/markdown_text.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/grade/course.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

struct SummaryFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::string html;
  std::vector<std::string> classes;  // files of `grade --json`
};

/// The learner's file and, for a program, its verdict. A file that is gone leaves both empty.
void read_and_grade(SummarisedExercise& one, const std::string& file) {
  try {
    const auto source = read_work({one.exercise, file});
    one.work = std::string(source->text());
    if (one.exercise->kind != exercises::Kind::kProgram) return;
    one.verdict = isolated_grader(one.exercise)->grade(source->name(), one.work);
  } catch (const Failure&) {
    one.work.clear();
  }
}

/// The cycles of a right program.
std::optional<toy::Count> own_cycles(const SummarisedExercise& one) {
  if (!one.verdict || !one.verdict->passed()) return std::nullopt;
  for (const exercises::CostLine& line : one.verdict->costs) {
    if (line.key == "cycles") return line.value;
  }
  return std::nullopt;
}

std::vector<SummarisedExercise> summarise(const Learner& learner) {
  std::vector<SummarisedExercise> all;
  for (const ExercisePointer& exercise : learner.all()) {
    SummarisedExercise one{exercise, 0, learner.progress().passed(exercise->id), {}, {}, {}};
    const auto* entry = learner.progress().find(exercise->id);
    one.points = exercises::best_points(entry, *exercise);
    if (entry != nullptr && !entry->file.empty()) read_and_grade(one, entry->file);
    all.push_back(std::move(one));
  }
  return all;
}

/// The longest report that is read: a class of thousands.
constexpr std::int64_t kMostReportBytes = std::int64_t{1} << 28;

/// Adds the histogram of a class's cycles to the exercise that it belongs to, with a mark at the
/// learner's own.
void add_class(std::vector<SummarisedExercise>& all, const std::string& file) {
  auto read = exercises::read_json_report(
      read_text_file(file, kMostReportBytes, "a file that `flashlab grade --json` wrote"));
  if (!read) {
    const toy::Diagnostic& error = read.diagnostics.front();
    throw request_failure("'" + printable(file) + "': " + error.what, error.expected);
  }
  for (SummarisedExercise& one : all) {
    if (one.exercise->id != read->exercise_id) continue;
    for (exercises::Histogram& histogram : read->histograms) {
      if (histogram.key != "cycles") continue;
      if (const auto cycles = own_cycles(one)) histogram.marks.push_back({"yours", *cycles});
      one.of_class = std::move(histogram);
      return;
    }
    throw request_failure("'" + printable(file) + "' has no histogram of cycles",
                          "a class in which some programs are right");
  }
  throw request_failure("'" + printable(file) + "' is about an exercise '" +
                            printable(read->exercise_id) + "', which there is not",
                        "one that `flashlab exercises list` shows");
}

/// "12.5 of 304 points, 3 of 34 exercises done".
std::string head_line(const std::vector<SummarisedExercise>& all) {
  double points = 0, most = 0;
  for (const SummarisedExercise& one : all) {
    points += one.points;
    most += one.exercise->max_points();
  }
  const auto done = std::count_if(all.begin(), all.end(),
                                  [](const SummarisedExercise& one) { return one.is_passed; });
  return std::to_string(done) + " of " + std::to_string(all.size()) + " exercises done, " +
         exercises::points_text(points) + " of " + points_text(most);
}

std::string work_table(const std::vector<SummarisedExercise>& all, const Terminal& terminal) {
  TextTable table({{"exercise"},
                   {"points", Align::kRight},
                   {"your cycles", Align::kRight},
                   {"full marks", Align::kRight},
                   {"proven best", Align::kRight}});
  for (const SummarisedExercise& one : all) {
    const SummarisedCycles cycles = summarised_cycles(one);
    table.row({printable(one.exercise->id),
               exercises::points_text(one.points) + "/" +
                   exercises::points_text(one.exercise->max_points()),
               cycles.yours, cycles.full, cycles.proven});
  }
  return table.to_string(terminal);
}

std::string answers_text(const std::vector<SummarisedExercise>& all, const Terminal& terminal) {
  std::string text;
  for (const SummarisedExercise& one : all) {
    if (!one.is_passed || one.exercise->afterwards.empty()) continue;
    text += "\n" + styled(printable(one.exercise->id), Style::kBold, terminal) + "\n" +
            markdown_text(one.exercise->afterwards, terminal);
  }
  return text.empty() ? "" : "\nAnswers to the questions under \"Afterwards\"\n" + text;
}

int print_summary(const SummaryFlags& options) {
  Learner learner(options.exercises);
  std::vector<SummarisedExercise> all = summarise(learner);
  for (const std::string& file : options.classes) add_class(all, file);
  if (options.html.empty()) {
    std::cout << summary_text(all, options.terminal.terminal());
  } else {
    write_file(options.html, [&](std::ostream& out) { write_summary_page(out, all); });
    if (options.html != "-") std::cout << "Wrote " << printable(options.html) << ".\n";
  }
  learner.print_notes();
  return kExitGood;
}

}  // namespace

SummarisedCycles summarised_cycles(const SummarisedExercise& one) {
  SummarisedCycles cycles;
  if (!one.verdict || !one.verdict->passed()) return cycles;
  for (const exercises::CostLine& line : one.verdict->costs) {
    if (line.key != "cycles") continue;
    cycles.yours = grouped(line.value.get_str());
    cycles.full = grouped(line.full.get_str());
  }
  if (cycles.yours.empty() || one.verdict->scores.empty()) return cycles;
  const exercises::SizeScore& score = one.verdict->scores.back();
  cycles.proven = exercises::proven_text(score);
  if (cycles.proven.empty() && score.proof) {
    cycles.proven = "at least " + grouped(score.proof->at_least_cycles.get_str());
  }
  return cycles;
}

std::string summary_text(const std::vector<SummarisedExercise>& all, const Terminal& terminal) {
  std::string text =
      styled(head_line(all), Style::kBold, terminal) + "\n\n" + work_table(all, terminal) + "\n";
  for (const std::string& line : wrap(kCyclesNote, terminal.width)) text += line + "\n";
  for (const SummarisedExercise& one : all) {
    if (!one.of_class) continue;
    text += "\n" + printable(one.exercise->id) + "\n" + histogram_text(*one.of_class, terminal);
  }
  return text + answers_text(all, terminal);
}

CommandAction add_exercises_summary(CLI::App& exercises) {
  auto options = std::make_shared<SummaryFlags>();
  CLI::App& command = add_command(
      exercises, "summary", "All your programs beside the proven best, and answers",
      "  flashlab exercises summary\n"
      "  flashlab exercises summary --html summary.html     a page with your programs\n");
  add_option(command, "--html", options->html, "write a page instead (- is standard output)")
      .file(FileRole::kOutput)
      .type_name("FILE");
  add_option(command, "--class", options->classes,
             "show your cycles among those of a class: a file of `grade --json`; may be repeated")
      .file(FileRole::kInput)
      .type_name("FILE")
      .allow_extra_args(false);
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return print_summary(*options); };
}

}  // namespace flashlab::cli
