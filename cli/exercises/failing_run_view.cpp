#include "cli/exercises/failing_run_view.hpp"

#include <iostream>

#include "cli/exercises/exercise_json.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {

std::string debug_hint(const Work& work, const exercises::Verdict& verdict) {
  if (exercises::guilty_step(verdict) == nullptr) return {};
  return "See it happen: flashlab exercises debug " + printable(work.exercise->id) + " " +
         printable(work.file) + "\n";
}

exercises::FailingRun find_failing_run(const Work& work, const toy::SourceText& source,
                                       const exercises::Verdict& verdict) {
  auto run = exercises::failing_run(*work.exercise, source, verdict);
  if (run) return std::move(*run);
  throw request_failure(
      "no step of " + printable(work.file) + " is known to be wrong",
      "a program for " + printable(work.exercise->id) + " whose check names a step");
}

int debug_failing_run(const exercises::FailingRun& run, DebuggerRequest request,
                      const TerminalOptions& terminal) {
  request.first.push_back("step " + std::to_string(run.step - 1));
  return open_debugger(run.program, toy::InitialDram::of_cells(run.program, run.dram), request,
                       terminal);
}

void write_failing_page(const exercises::FailingRun& run, const std::string& file) {
  write_file(file, [&](std::ostream& out) { write_failing_page(run, out); });
  if (file != "-") std::cout << "Wrote " << printable(file) << ".\n";
}

}  // namespace flashlab::cli
