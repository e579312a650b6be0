// `flashlab exercises`: the verbs of the learner's path.
#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"

namespace flashlab::cli {
namespace {

/// In the order of the help text.
constexpr std::array<AddCommand, 16> kVerbs{
    add_exercises_list,     add_exercises_show,  add_exercises_predict, add_exercises_start,
    add_exercises_check,    add_exercises_watch, add_exercises_debug,   add_exercises_hint,
    add_exercises_solution, add_exercises_reset, add_exercises_history, add_exercises_board,
    add_exercises_summary,  add_exercises_new,   add_exercises_lint,    add_exercises_prove};

}  // namespace

CommandAction add_exercises(CLI::App& app) {
  CLI::App& command =
      add_command(app, kExercises, "Problems to solve, hints, and what is right or wrong",
                  "  flashlab exercises                     what there is, done and next\n"
                  "  flashlab exercises start 1             the first one: its file to edit\n"
                  "  flashlab exercises predict             what will it cost? before you write\n"
                  "  flashlab exercises check               is it right, and what does it cost?\n"
                  "  flashlab exercises hint                a first hint, then a second\n"
                  "  flashlab exercises watch               checks whenever you save\n");
  require_subcommand(command);
  std::vector<CommandAction> actions;
  for (const AddCommand add : kVerbs) actions.push_back(add(command));
  return [&command, actions] { return run_chosen(command, actions); };
}

}  // namespace flashlab::cli
