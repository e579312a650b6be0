#include "cli/exercises/worker_command.hpp"

#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include "cli/gpu/speed.hpp"
#include "cli/options/commands.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "exercises/isolation/serve.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kWorkerName = "grading-worker";

/// The path of this executable. The link stays valid if the file is replaced in the meantime.
std::string own_path() {
#ifdef __APPLE__
  std::string path(4096, '\0');
  auto size = static_cast<std::uint32_t>(path.size());
  if (_NSGetExecutablePath(path.data(), &size) != 0) return "flashlab";
  return path.c_str();
#else
  return "/proc/self/exe";
#endif
}

}  // namespace

exercises::WorkerProgram worker_program() { return {own_path(), {kWorkerName}}; }

std::unique_ptr<exercises::IsolatedGrader> isolated_grader(
    const ExercisePointer& exercise, const exercises::GraderOptions& options) {
  try {
    return std::make_unique<exercises::IsolatedGrader>(exercise, options, worker_program());
  } catch (const exercises::BrokenExercise& error) {
    throw request_failure(
        "the exercise '" + printable(exercise->id) + "' is broken: " + printable(error.what()),
        "see `flashlab exercises lint " + printable(exercise->id) + "`");
  } catch (const exercises::WorkerError& error) {
    throw request_failure(error.what());
  }
}

CommandAction add_grading_worker(CLI::App& app) {
  CLI::App& command =
      add_command(app, kWorkerName, "Grade what comes over standard input, for `flashlab grade`",
                  "  flashlab grade 8 --all class/      starts it, one for each processor\n");
  hide(command);
  return [] {
    // Nothing needs cleanup, and a sanitizer's search for leaks would start a thread.
    _exit(exercises::serve_grading(STDIN_FILENO, add_predicted_time));
    return kExitGood;
  };
}

}  // namespace flashlab::cli
