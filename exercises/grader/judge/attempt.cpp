#include "exercises/grader/judge/attempt.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "text/read_number.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/lanes.hpp"
#include "toymachine/links/unroll_machines.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::exercises {
namespace {

/// Finds the failure that is easiest to understand.
void run_one_by_one(const ProgramTask& task, Attempt& result) {
  for (const std::size_t i : plainest_first(result.sized->cases)) {
    result.failure = run_case(*result.bound, result.sized->cases[i], task.tolerance,
                              result.machines ? &*result.machines : nullptr);
    if (!result.failure) continue;
    result.failure->entry = i;
    return;
  }
}

/// Runs all cases at once. If one fails, looks for the failure that is easiest to understand: at the
/// step where a huge input overflows, ordinary inputs have no results yet.
void run_on_lanes(const ProgramTask& task, const LaneCase& prepared, Attempt& result) {
  static thread_local std::vector<toy::LaneValue> registers;
  LaneCase lanes = lay_out(prepared, *result.bound);
  if (toy::run_lanes(*result.unrolled, lanes.dram, registers) || first_wrong(lanes, lanes.dram)) {
    run_one_by_one(task, result);
  }
}

bool has_narrow_array(const toy::BoundProgram& bound) {
  return std::any_of(bound.arrays.begin(), bound.arrays.end(), [](const toy::BoundArray& array) {
    return toy::is_narrow(array.element_type) || array.element_type == toy::ElementType::kDouble;
  });
}

/// The error for more .temp elements than the exercise allows.
std::optional<toy::Diagnostic> temporary_error(const ProgramTask& task, const Attempt& attempt) {
  if (!task.most_temporary) return std::nullopt;
  toy::Count elements = 0;
  const toy::BoundArray* last = nullptr;
  for (const toy::BoundArray& array : attempt.bound->arrays) {
    if (array.role != toy::ArrayRole::kTemp) continue;
    elements += array.size;
    last = &array;
  }
  const toy::Count most = value_at(*task.most_temporary, attempt.sized->size);
  if (elements <= most) return std::nullopt;
  const std::string size = to_string(attempt.sized->size);
  toy::Diagnostic error;
  error.span = last->span;
  error.what = "the .temp arrays have " + elements.get_str() + " elements together" +
               (size.empty() ? "" : " at " + size);
  error.expected = "at most " + most.get_str();
  return error;
}

/// The error for more bytes in registers than the exercise's machine has. `is_unknown`: the program
/// has an error that a run explains, or its registers cannot be told apart without a run.
std::optional<toy::Diagnostic> register_bytes_error(const ProgramTask& task, const Attempt& attempt,
                                                    bool& is_unknown) {
  is_unknown = false;
  if (!task.most_register_bytes) return std::nullopt;
  const toy::Count most = value_at(*task.most_register_bytes, attempt.sized->size);
  const auto peak =
      toy::peak_register_bytes(attempt.machines ? attempt.machines->first() : *attempt.bound);
  toy::Diagnostic error;
  error.expected = "at most " + most.get_str() + " bytes in registers at once";
  is_unknown = !peak;
  if (!peak) {
    error.what = "the bytes in registers cannot be counted without a run";
    return error;
  }
  if (peak->bytes <= most) return std::nullopt;
  error.span = attempt.bound->instructions[peak->site].span;
  error.what = "the registers hold " + std::to_string(peak->bytes) + " bytes here at " +
               to_string(attempt.sized->size);
  return error;
}

/// Refuses a run of too many steps.
bool refuse_long_run(const ProgramTask& task, Attempt& result) {
  if (result.counters.steps <= task.limits.max_steps) return false;
  toy::Diagnostic limit;
  limit.fault = toy::Fault::kLimit;
  limit.what = "the program takes " + result.counters.steps.get_str() + " steps at " +
               to_string(result.sized->size);
  limit.expected = "at most " + std::to_string(task.limits.max_steps);
  result.refusal.push_back(std::move(limit));
  return true;
}

}  // namespace

std::uint64_t step_in(const std::string& what) {
  constexpr std::string_view kStart = "step ";
  std::uint64_t step = 0;
  if (what.starts_with(kStart)) {
    read_number(std::string_view(what).substr(kStart.size()), step);
  }
  return step;
}

toy::Result<std::vector<double>> dram_for(const toy::BoundProgram& bound, const Case& entry) {
  std::map<std::string, toy::InputSource> sources;
  for (const auto& [name, array] : entry.inputs) {
    sources[name] = toy::ListInput{array.extents, array.values};
  }
  return toy::initial_dram(bound, sources);
}

std::optional<WrongOutput> wrong_output(const toy::BoundProgram& bound, std::span<const float> dram,
                                        const Case& entry, const Tolerance& tolerance) {
  for (std::size_t i = 0; i < bound.arrays.size(); ++i) {
    const toy::BoundArray& array = bound.arrays[i];
    const auto wanted = entry.expected.find(array.name);
    if (wanted == entry.expected.end()) continue;
    const double scale = scale_of(wanted->second), allowed = tolerance.of(array.name);
    for (std::int64_t at = 0; at < array.size; ++at) {
      const double value = dram[static_cast<std::size_t>(array.offset + at)];
      const double expected = wanted->second.values[static_cast<std::size_t>(at)];
      if (!close_enough(value, expected, scale, allowed)) {
        return WrongOutput{i, at, value, expected};
      }
    }
  }
  return std::nullopt;
}

std::optional<Failure> run_case(const toy::BoundProgram& bound, const Case& entry,
                                const Tolerance& tolerance, const toy::Machines* machines) {
  Failure failure;
  auto dram = dram_for(bound, entry);
  if (!dram) {
    failure.error = dram.diagnostics.front();
    return failure;
  }
  std::vector<float> cells(dram->begin(), dram->end());
  const auto run = machines != nullptr ? toy::run_machines(*machines, cells)
                                       : toy::run(bound, std::span<float>(cells));
  if (!run) {
    failure.error = run.diagnostics.front();
    failure.step = step_in(failure.error->what);
    return failure;
  }
  failure.cell = wrong_output(bound, cells, entry, tolerance);
  if (!failure.cell) return std::nullopt;
  return failure;
}

namespace {

/// Names the registers of all machines, as toy::unroll_machines numbers them: "R1 of machine 2".
void name_registers(const toy::Machines& machines, toy::BoundProgram& joined) {
  joined.register_names.clear();
  for (std::size_t rank = 0; rank < machines.programs.size(); ++rank) {
    for (std::int64_t k = 0; k < machines.programs[rank].num_registers; ++k) {
      joined.register_names.push_back(machines.programs[rank].register_name(k) + " of machine " +
                                      std::to_string(rank));
    }
  }
}

/// Counts the executions of a program for one machine. On tiles, a short run on their shapes takes a
/// tenth of the time of the sums over the loop nest, which tell the shapes of all iterations apart. It
/// counts the same. If it fails, the sums have the error that people know.
toy::Result<toy::Executions> executions_of(const toy::BoundProgram& bound) {
  constexpr std::int64_t kShortRun = 20'000;
  if (bound.tiled) {
    toy::BoundProgram limited = bound;
    limited.limits.max_steps = std::min(limited.limits.max_steps, kShortRun);
    if (auto run = toy::run_shapes(limited)) return std::move(run->executions);
  }
  return toy::count_executions(bound);
}

/// Binds and counts. `bytes_unknown` is an error that only a run may hide.
Attempt bind_and_count(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                       const SizedCases& sized, std::optional<toy::Diagnostic>& bytes_unknown) {
  Attempt result;
  result.sized = &sized;
  auto all = bind_machines(task, program, sized.size);
  if (!all) {
    result.refusal = std::move(all.diagnostics);
    return result;
  }
  result.bound = std::move(all->bound);
  result.machines = std::move(all->machines);
  if (result.machines) name_registers(*result.machines, *result.bound);
  if (auto error = toy::array_bytes_error(result.bound.value())) {
    error->expected = "at most " + std::to_string(task.limits.max_array_bytes) + " bytes of arrays";
    result.refusal.push_back(std::move(*error));
    return result;
  }
  if (auto error = temporary_error(task, result)) {
    result.refusal.push_back(std::move(*error));
    return result;
  }
  const toy::BoundProgram& one = result.machines ? result.machines->first() : *result.bound;
  const auto executions =
      result.machines ? toy::count_machines(*result.machines) : executions_of(*result.bound);
  if (!executions) {
    result.refusal = executions.diagnostics;
    return result;
  }
  bool is_unknown = false;
  if (auto error = register_bytes_error(task, result, is_unknown)) {
    if (!is_unknown) {
      result.refusal.push_back(std::move(*error));
      return result;
    }
    bytes_unknown = std::move(error);
  }
  result.counters = toy::count(one, *executions, {});
  return result;
}

}  // namespace

Attempt count_attempt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                      const SizedCases& sized) {
  std::optional<toy::Diagnostic> bytes_unknown;
  Attempt result = bind_and_count(task, program, sized, bytes_unknown);
  if (bytes_unknown && result.refusal.empty()) result.refusal.push_back(std::move(*bytes_unknown));
  return result;
}

Attempt attempt(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                const SizedCases& sized, const LaneCase* lanes) {
  std::optional<toy::Diagnostic> bytes_unknown;
  Attempt result = bind_and_count(task, program, sized, bytes_unknown);
  if (!result.refusal.empty() || refuse_long_run(task, result)) return result;
  if (lanes != nullptr && !result.bound->tiled && !has_narrow_array(*result.bound)) {
    const auto most = static_cast<std::uint64_t>(task.limits.max_steps);
    auto unrolled = result.machines ? toy::unroll_machines(*result.machines, most)
                                    : toy::unroll(*result.bound, most);
    if (unrolled) result.unrolled = std::move(*unrolled);
  }
  if (result.unrolled) {
    run_on_lanes(task, *lanes, result);
  } else {
    run_one_by_one(task, result);
  }
  if (!result.failure && bytes_unknown) result.refusal.push_back(std::move(*bytes_unknown));
  return result;
}

}  // namespace flashlab::exercises
