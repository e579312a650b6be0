#include "exercises/grader/grade/failing_run.hpp"

#include <string>
#include <utility>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/execute/lanes.hpp"
#include "toymachine/replay/breakpoint.hpp"
#include "toymachine/replay/nest_steps.hpp"

namespace flashlab::exercises {

const Finding* guilty_step(const Verdict& verdict) {
  if (verdict.passed() || verdict.outcome == Outcome::kTooCostly) return nullptr;
  for (const Finding& finding : verdict.findings) {
    if ((finding.step > 0 || finding.line > 0) && !finding.inputs.empty()) return &finding;
  }
  return nullptr;
}

namespace {

/// Returns the number, from 1, of the first step at the line or after it in the text.
std::uint64_t first_step_at(const toy::BoundProgram& program, std::uint32_t line) {
  const auto site = toy::site_at_line(program, line);
  if (!site || *site == 0) return 1;
  const toy::NestSteps nest(program);
  const toy::RunPoint start{0, std::vector<std::int64_t>(program.loops.size(), 0)};
  const auto found = nest.first_after(*site, start);
  return found ? nest.steps_before(*found) + 1 : 1;
}

/// "   14 | MAC_Z R0, R1, R2" or "      | ^~".
bool is_source_line(const std::string& line) {
  const auto bar = line.find('|');
  return bar != std::string::npos && line.find_first_not_of(" 0123456789") == bar;
}

}  // namespace

std::optional<FailingRun> failing_run(const Exercise& exercise, const toy::SourceText& submission,
                                      const Verdict& verdict, const GraderOptions& options) {
  const Finding* const finding = guilty_step(verdict);
  if (finding == nullptr || exercise.kind != Kind::kProgram) return std::nullopt;
  const ProgramTask& task = exercise.program;
  Refusal refusal;
  const auto program = read_submission(task, submission, refusal);
  if (!program) return std::nullopt;
  for (const SizedCases& sized : make_cases(task, options.seed, toy::kLanes)) {
    for (std::size_t entry = 0; entry < sized.cases.size(); ++entry) {
      if (inputs_text(sized, entry) != finding->inputs) continue;
      auto bound = bind_submission(task, program, sized.size);
      if (!bound || !run_case(*bound, sized.cases[entry], task.tolerance)) continue;
      auto dram = dram_for(*bound, sized.cases[entry]);
      if (!dram) continue;
      FailingRun run{std::move(*bound), std::move(*dram), finding->step, finding->what};
      for (const std::string& line : finding->details) {
        if (!is_source_line(line)) run.why += "\n" + line;
      }
      if (run.step == 0) {
        // What is wrong shows later: an error, say, in another line.
        run.step = first_step_at(run.program, finding->line);
        run.why = "the first of line " + std::to_string(finding->line) +
                  ", which the check names\n" + run.why;
      }
      return run;
    }
  }
  return std::nullopt;
}

}  // namespace flashlab::exercises
