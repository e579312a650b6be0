#include "exercises/grader/repair/value_runs.hpp"

#include <algorithm>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kLongestKept = 2000;  // steps of a run

/// The steps of one site that write registers.
std::vector<std::size_t> steps_of(const ValueRun& run, std::uint32_t site) {
  std::vector<std::size_t> steps;
  for (std::size_t s = 0; s < run.values.steps.size(); ++s) {
    const toy::StepValue& value = run.values.steps[s];
    if (value.site == site && !value.is_stored && value.rows > 0) steps.push_back(s);
  }
  return steps;
}

std::optional<std::uint32_t> site_of(const toy::BoundProgram& bound, std::uint32_t line) {
  for (const toy::BoundInstruction& instruction : bound.instructions) {
    if (instruction.span.line == line) return instruction.site;
  }
  return std::nullopt;
}

}  // namespace

std::optional<toy::BoundProgram> bound_alone(const ProgramTask& task,
                                             const std::shared_ptr<const toy::Program>& program,
                                             const Size& size) {
  auto all = bind_machines(task, program, size);
  if (!all || all->machines || toy::array_bytes_error(all->bound)) return std::nullopt;
  all->bound.limits.max_steps =
      std::min<std::int64_t>(all->bound.limits.max_steps, kMostValueSteps);
  return std::move(all->bound);
}

std::optional<ValueRun> run_values(toy::BoundProgram bound, const Case& entry) {
  auto dram = dram_for(bound, entry);
  if (!dram) return std::nullopt;
  std::vector<float> cells(dram->begin(), dram->end());
  ValueRun run{std::move(bound), {}, false};
  run.is_whole = static_cast<bool>(toy::run_recorded(run.bound, cells, run.values));
  if (run.values.steps.empty()) return std::nullopt;
  return run;
}

std::map<std::uint32_t, std::vector<std::size_t>> steps_by_site(const ValueRun& run) {
  std::map<std::uint32_t, std::vector<std::size_t>> steps;
  for (std::size_t s = 0; s < run.values.steps.size(); ++s) {
    const toy::StepValue& value = run.values.steps[s];
    if (!value.is_stored && value.rows > 0) steps[value.site].push_back(s);
  }
  return steps;
}

bool is_right_with(const ProgramTask& task, const toy::BoundProgram& bound, const Case& entry,
                   const toy::Replacement& replacement) {
  auto dram = dram_for(bound, entry);
  if (!dram) return false;
  std::vector<float> cells(dram->begin(), dram->end());
  const auto run = toy::run_replaced(bound, cells, replacement);
  return run && !run->stopped &&
         run->executions.times[replacement.site] == replacement.steps.size() &&
         !wrong_output(bound, cells, entry, task.tolerance);
}

ValuesAt::ValuesAt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                   const SizedCases& sized)
    : task_(task),
      sized_(sized),
      mine_(bound_alone(task, program, sized.size)),
      solution_(bound_alone(task, task.solution, sized.size)),
      kept_(sized.cases.size()) {
  for (std::optional<toy::BoundProgram>* bound : {&mine_, &solution_}) {  // a check, not a search
    if (*bound) (*bound)->limits.max_steps = task.limits.max_steps;
  }
}

const ValueRun* ValuesAt::run_of(std::size_t entry) {
  if (kept_[entry]) return &*kept_[entry];
  auto dram = dram_for(*solution_, sized_.cases[entry]);
  if (!dram) return nullptr;
  std::vector<float> cells(dram->begin(), dram->end());
  // The memory of the run before is used again: to get it costs more than to run.
  if (!last_) last_.emplace(ValueRun{*solution_, {}, false});
  last_->values.steps.clear();
  last_->values.numbers.clear();
  if (!toy::run_recorded(last_->bound, cells, last_->values)) return nullptr;
  if (last_->values.steps.size() <= kLongestKept) kept_[entry] = last_;
  return &*last_;
}

bool ValuesAt::is_right(std::uint32_t line, std::uint32_t solution_line) {
  if (!mine_ || !solution_) return false;
  const auto site = site_of(*mine_, line), right = site_of(*solution_, solution_line);
  if (!site || !right) return false;
  for (std::size_t i = 0; i < sized_.cases.size(); ++i) {
    const ValueRun* const run = run_of(i);
    if (run == nullptr) return false;
    auto steps = steps_of(*run, *right);
    if (!is_right_with(task_, *mine_, sized_.cases[i], {*site, &run->values, std::move(steps)})) {
      return false;
    }
  }
  return true;
}

}  // namespace flashlab::exercises
