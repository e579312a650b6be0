// `flashlab exercises hint` and `solution`: help in steps, and the whole solution.
#include "cli/exercises/hint.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/exercises/checked_work.hpp"
#include "cli/exercises/exercise_json.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/markdown_text.hpp"
#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/explain/own_hint.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {
using exercises::kHintLevels;

struct HintFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::string id;                  // of `solution`
  std::vector<std::string> words;  // of `hint`: an exercise, a file, or both
  std::size_t level = 0;           // 0: the next level
  bool again = false, yes = false, json = false;
};

/// Returns whether the solution may be shown. Throws Failure if there is no terminal to ask on.
bool may_show_solution(const std::string& what, bool yes) {
  if (yes) return true;
  const std::optional<bool> answer = ask(what + " is the solution. Show it?");
  if (answer) return *answer;
  throw request_failure(what + " is the solution, and there is no terminal for the question",
                        "--yes to see it; flashlab hint --again shows the hints before it");
}

void remember_hint(Learner& learner, const exercises::Exercise& exercise, std::size_t level) {
  learner.remember([&](exercises::Progress& progress) {
    auto& entry = progress.entry(exercise.id);
    entry.hints = std::max(entry.hints, level);
    if (level == kHintLevels) entry.solution_seen = true;
  });
}

int hint(const HintFlags& options) {
  Learner learner(options.exercises);
  const Work work = options.words.empty() ? learner.find_work({learner.find("")->id})
                                          : learner.find_work(options.words);
  const ExercisePointer& exercise = work.exercise;
  if (options.words.size() == 2) read_work(work);  // a file that is named must be there
  const Terminal terminal = options.terminal.terminal();
  const std::size_t shown = hints_shown(learner, *exercise);
  if (options.again) {
    if (shown == 0) std::cout << "No hint for " << printable(exercise->id) << " was shown yet.\n";
    for (std::size_t level = 1; level <= shown; ++level) {
      std::cout << (level > 1 ? "\n" : "") << hint_text(*exercise, level, terminal);
    }
    return kExitGood;
  }
  const std::size_t level = options.level > 0 ? options.level : std::min(shown + 1, kHintLevels);
  const bool is_solution = level == kHintLevels;
  if (is_solution && shown < kHintLevels && !may_show_solution("The last hint", options.yes)) {
    return kExitGood;
  }
  if (options.json) {
    print_json(hint_json(*exercise, level));
    remember_hint(learner, *exercise, level);
  } else {
    show_hint(learner, work, level, terminal);
  }
  return kExitGood;
}

int solution(const HintFlags& options) {
  Learner learner(options.exercises);
  const ExercisePointer exercise = learner.find(options.id);
  if (!may_show_solution("What comes now", options.yes)) return kExitGood;
  learner.remember(
      [&](exercises::Progress& progress) { progress.entry(exercise->id).solution_seen = true; });
  if (exercise->kind == exercises::Kind::kProgram) {
    const auto file = exercise->files.find("solution.toy");
    std::cout << (file == exercise->files.end() ? exercise->starter() : file->second);
  } else {
    std::cout << exercises::model_answers(exercise->questions);
  }
  return kExitGood;
}

void add_common(CLI::App& command, HintFlags& options) {
  add_flag(command, "--yes", options.yes, "show the solution without asking");
  options.exercises.add_to(command);
}

}  // namespace

std::size_t hints_shown(const Learner& learner, const exercises::Exercise& exercise) {
  const auto* entry = learner.progress().find(exercise.id);
  return entry == nullptr ? 0 : std::min(entry->hints, kHintLevels);
}

std::string hint_text(const exercises::Exercise& exercise, std::size_t level,
                      const Terminal& terminal) {
  const std::string head = "Hint " + std::to_string(level) + " of " + std::to_string(kHintLevels) +
                           ", " + hint_name(level) + ", for " + printable(exercise.id);
  return styled(head, Style::kBold, terminal) + "\n\n" +
         markdown_text(exercise.hints[level - 1], terminal);
}

std::string hint_on_work(const Work& work, std::size_t level) {
  if (work.exercise->kind != exercises::Kind::kProgram || level >= kHintLevels) return {};
  std::error_code code;
  if (!std::filesystem::is_regular_file(work.file, code)) return {};
  const auto source = read_work(work);
  const exercises::Verdict verdict = exercises::Grader(work.exercise).grade(*source);
  const std::string own = exercises::own_hint(verdict, *source, level);
  return own.empty() ? "" : "In " + shown_path(work.file) + " as it is now: " + printable(own);
}

void show_hint(Learner& learner, const Work& work, std::size_t level, const Terminal& terminal) {
  const exercises::Exercise& exercise = *work.exercise;
  const std::string own = hint_on_work(work, level);
  if (!own.empty()) std::cout << wrapped(own, terminal.width) << "\n";
  std::cout << hint_text(exercise, level, terminal);
  if (level + 1 < kHintLevels) {
    std::cout << "\nStill stuck? `flashlab hint` says more.\n";
  } else if (level + 1 == kHintLevels) {
    std::cout << "\nThe next hint is the solution.\n";
  }
  remember_hint(learner, exercise, level);
}

CommandAction add_exercises_hint(CLI::App& exercises) {
  auto options = std::make_shared<HintFlags>();
  CLI::App& command =
      add_command(exercises, "hint", "The next of four hints; the last is the solution",
                  "  flashlab exercises hint              for the current exercise\n"
                  "  flashlab exercises hint 2 --level 1\n"
                  "  flashlab exercises hint 2 other.toy  also of this file\n"
                  "  flashlab exercises hint --again      those that were shown already\n");
  add_work_argument(command, options->words);
  add_common(command, *options);
  const Flag level = add_option(command, "--level", options->level, "the hint to show: 1 to 4")
                         .between(std::size_t{1}, kHintLevels)
                         .type_name("N");
  const Flag again =
      add_flag(command, "--again", options->again, "show those that were shown already");
  again.excludes(level);
  add_flag(command, "--json", options->json, "as JSON").excludes(again);
  options->terminal.add_to(command);
  return [options] { return hint(*options); };
}

CommandAction add_exercises_solution(CLI::App& exercises) {
  auto options = std::make_shared<HintFlags>();
  CLI::App& command = add_command(exercises, "solution", "A solution, after asking",
                                  "  flashlab exercises solution 2\n"
                                  "  flashlab exercises solution 2 --yes > mine.toy\n");
  add_option(command, "id", options->id, "number or name of an exercise (the current one)")
      .type_name("ID");
  add_common(command, *options);
  return [options] { return solution(*options); };
}

}  // namespace flashlab::cli
