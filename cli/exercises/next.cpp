// `flashlab next`: the next step of the course. `flashlab` alone prints where the learner is.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/exercises/learner.hpp"
#include "cli/exercises/show.hpp"
#include "cli/exercises/start.hpp"
#include "cli/help/read.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "exercises/grader/grade/progress.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

struct NextFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  bool where = false;
};

constexpr const char* kHelp = "\n`flashlab --help` lists all commands.\n";

void print_beginning() {
  std::cout << "flashlab is a course that leads to flash attention, on a machine that you can\n"
               "follow by hand.\n\n"
               "  flashlab tour        begin here: two minutes\n"
               "  flashlab next        then: the first exercise\n"
               "  flashlab exercises   all exercises\n"
            << kHelp;
}

void print_where(const Learner& learner, const Terminal& terminal) {
  const std::vector<ExercisePointer> all = learner.all();
  const auto done = std::count_if(all.begin(), all.end(), [&](const ExercisePointer& exercise) {
    return learner.progress().passed(exercise->id);
  });
  const std::string next = learner.next();
  const bool started = std::any_of(all.begin(), all.end(), [&](const ExercisePointer& exercise) {
    return learner.progress().find(exercise->id) != nullptr;
  });
  if (!started) return print_beginning();
  std::cout << done << " of " << all.size() << " exercises are done.\n";
  if (next.empty()) {
    std::cout << "That is all of them: `flashlab exercises summary` shows your programs.\n"
              << kHelp;
    return;
  }
  const ExercisePointer exercise = learner.find(next);
  const auto* entry = learner.progress().find(next);
  const bool has_file = entry != nullptr && !entry->file.empty();
  std::cout << "You are at " << learner.named(next) << "\n";
  if (!exercise->chapter.empty())
    std::cout << "  read      " << reading_command(exercise->chapter) << "\n";
  if (has_file) std::cout << "  your file " << shown_path(entry->file) << "\n";
  const std::string behind = learner.left_behind(next);
  if (!behind.empty()) std::cout << wrapped(behind, terminal.width) << "\n";
  std::cout << "\n  flashlab next    " << (has_file ? "read it again" : "begin it") << "\n";
  if (has_file) {
    std::cout << "  flashlab check   is it right?\n"
                 "  flashlab hint    when you are stuck\n";
  }
  std::cout << kHelp;
}

/// The number that the name begins with; 0: none.
int exercise_number(const std::string& id) {
  int number = 0;
  read_number(id, number);
  return number;
}

/// "28 comes after 15: …", where a learner would look for the number after that of the exercise before; else empty.
std::string order_note(const Learner& learner, const std::string& exercise) {
  const std::vector<std::string>& ids = learner.ids();
  const auto here = std::find(ids.begin(), ids.end(), exercise);
  if (here == ids.begin() || here == ids.end()) return {};
  const int number = exercise_number(exercise), before = exercise_number(*(here - 1));
  if (number == 0 || before == 0 || number == before + 1) return {};
  return "Exercise " + std::to_string(number) + " comes after " + std::to_string(before) +
         ": the order is that of the chapters, and numbers are names.";
}

/// Starts the next exercise if it has no file yet, and shows it.
void go_on(Learner& learner, const Terminal& terminal) {
  const std::string next = learner.next();
  if (next.empty()) {
    std::cout << kAllDone << "\n";
    return;
  }
  const ExercisePointer exercise = learner.find(next);
  const auto* entry = learner.progress().find(next);
  if (entry == nullptr || entry->file.empty()) {
    start_exercise(learner, *exercise, exercise->work_file());
    std::cout << "Wrote " << printable(exercise->work_file()) << ".\n\n";
  }
  if (const std::string note = order_note(learner, next); !note.empty()) {
    std::cout << wrapped(note, terminal.width) << "\n";
  }
  show_exercise(*exercise, learner, terminal);
  const std::string behind = learner.left_behind(next);
  if (!behind.empty()) std::cout << wrapped(behind, terminal.width) << "\n";
}

int next(const NextFlags& options) {
  Learner learner(options.exercises);
  if (options.where) {
    print_where(learner, options.terminal.terminal());
  } else {
    go_on(learner, options.terminal.terminal());
  }
  learner.print_notes();
  return kExitGood;
}

}  // namespace

CommandAction add_next(CLI::App& app) {
  auto options = std::make_shared<NextFlags>();
  CLI::App& command =
      add_command(app, "next", "Go on with the course: the next exercise",
                  "  flashlab next             show it; write its file to work in\n"
                  "  flashlab next --where     where you are; `flashlab` alone does this\n");
  add_flag(command, "--where", options->where, "only say where you are, and what comes next");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return next(*options); };
}

}  // namespace flashlab::cli
