// `flashlab exercises debug`: opens the failing run of the learner's program at the guilty step.
#include <memory>

#include "cli/debug/debugger.hpp"
#include "cli/exercises/failing_run_view.hpp"
#include "cli/exercises/verbs.hpp"
#include "cli/exercises/worker_command.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"

namespace flashlab::cli {
namespace {

struct DebugWorkFlags {
  ExerciseOptions exercises;
  TerminalOptions terminal;
  DebuggerRequest debugger;
  std::vector<std::string> words;
};

int debug_work(const DebugWorkFlags& options) {
  Learner learner(options.exercises);
  const Work work = learner.find_work(options.words);
  const auto source = read_work(work);
  const exercises::Verdict verdict =
      isolated_grader(work.exercise)->grade(source->name(), std::string(source->text()));
  return debug_failing_run(find_failing_run(work, *source, verdict), options.debugger,
                           options.terminal);
}

}  // namespace

CommandAction add_exercises_debug(CLI::App& exercises) {
  auto options = std::make_shared<DebugWorkFlags>();
  CLI::App& command =
      add_command(exercises, "debug", "Follow the run in which your program is wrong",
                  "  flashlab exercises debug                 the current exercise\n"
                  "  flashlab exercises debug 2 other.toy     another file\n"
                  "\nIt begins right before the guilty step, on the inputs that "
                  "`check` names.\n`flashlab debug --help` says what the keys do.\n");
  add_work_argument(command, options->words);
  options->debugger.add_to(command);
  options->exercises.add_to(command);
  options->terminal.add_to(command);
  return [options] { return debug_work(*options); };
}

}  // namespace flashlab::cli
