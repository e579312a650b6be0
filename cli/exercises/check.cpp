// `flashlab exercises check`: grades the learner's file and prints its cost.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/exercises/checked_work.hpp"
#include "cli/exercises/exercise_json.hpp"
#include "cli/exercises/failing_run_view.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/exercises/worker_command.hpp"
#include "cli/machine/counter_report.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"

namespace flashlab::cli {
namespace {

struct CheckFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  std::vector<std::string> words;
  std::string html;
  bool json = false, explain = false;
};

int check_work(const CheckFlags& options) {
  Learner learner(options.exercises);
  const Work work = learner.find_work(options.words);
  const auto source = read_work(work);
  const exercises::Verdict verdict =
      isolated_grader(work.exercise)->grade(source->name(), std::string(source->text()));
  remember_verdict(learner, work, verdict);
  if (options.json) {
    const Json json =
        verdict_json({*work.exercise, work.file, learner.progress(), learner.ids()}, verdict);
    print_json(json);
  } else {
    std::cout << check_text(learner, work, verdict, *source,
                            options.explain ? Explanation::kFull : Explanation::kBrief,
                            options.terminal.terminal());
  }
  if (!options.html.empty()) {
    const auto said = [&](std::size_t width) {
      return check_text(learner, work, verdict, *source, Explanation::kFull,
                        {.width = width, .color = false, .unicode = true});
    };
    write_check_page(work, *source, verdict, {said(kWidestText), said(kPhoneText)}, options.html);
  }
  return exit_code_of(verdict);
}

}  // namespace

CommandAction add_exercises_check(CLI::App& exercises) {
  auto options = std::make_shared<CheckFlags>();
  CLI::App& command =
      add_command(exercises, "check", "Is it right, and what does it cost?",
                  "  flashlab exercises check                 the current exercise\n"
                  "  flashlab exercises check 2\n"
                  "  flashlab exercises check 2 other.toy     another file\n"
                  "  flashlab exercises check --explain       where do its cycles go?\n");
  add_work_argument(command, options->words);
  add_flag(command, "--json", options->json, "as JSON");
  add_flag(command, "--explain", options->explain,
           "everything about the cost: which loads can be saved, what the order allows, what is "
           "proved");
  add_option(
      command, "--html", options->html,
      "also write a page: a player of the run if a step is wrong, or else what the check says")
      .file(FileRole::kOutput)
      .type_name("FILE");
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return check_work(*options); };
}

}  // namespace flashlab::cli
