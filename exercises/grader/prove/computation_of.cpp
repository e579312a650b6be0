#include "exercises/grader/prove/computation_of.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::int64_t kUnlimited = 1 << 20;  // registers: more than there are values

optimal::StatedProgram stated(const ProgramTask& task, const Size& size,
                              const toy::BoundProgram& bound) {
  optimal::StatedProgram result{"the exercise",
                                "The exercise's computation",
                                {task.level, task.extra_instructions},
                                {},
                                bound,
                                task.check};
  if (!size.empty()) result.title += " at " + to_string(size);
  for (const auto& [name, value] : size) {
    result.declarations.push_back(".param " + name + " = " + std::to_string(value));
  }
  result.declarations.insert(result.declarations.end(), task.arrays.begin(), task.arrays.end());
  return result;
}

std::int64_t cells(const toy::BoundArray& array) {
  std::int64_t result = 1;
  for (const std::int64_t count : array.counts) result *= count;
  return result;
}

bool is_checked(const ProgramTask& task, const toy::BoundArray& array) {
  return std::find(task.check.begin(), task.check.end(), array.name) != task.check.end();
}

/// The checked outputs of the solution on the given inputs.
std::vector<double> results(const ProgramTask& task, const toy::BoundProgram& bound,
                            const std::map<std::string, toy::ListInput>& inputs) {
  std::map<std::string, toy::InputSource> sources(inputs.begin(), inputs.end());
  auto dram = toy::initial_dram(bound, sources);
  if (!dram) throw std::runtime_error(dram.diagnostics.front().what);
  const auto run = toy::run(bound, std::span(*dram));
  if (!run) throw std::runtime_error(run.diagnostics.front().what);
  std::vector<double> values;
  for (const toy::BoundArray& array : bound.arrays) {
    if (!is_checked(task, array)) continue;
    const auto first = dram->begin() + array.offset;
    values.insert(values.end(), first, first + array.size);
  }
  return values;
}

/// The cell (tile) that contains an element of the array.
std::int64_t cell_of(const toy::BoundArray& array, std::int64_t element) {
  std::int64_t cell = 0, stride = 1;
  for (std::size_t axis = array.extents.size(); axis-- > 0;) {
    cell += element % array.extents[axis] / array.tile[axis] * stride;
    stride *= array.counts[axis];
    element /= array.extents[axis];
  }
  return cell;
}

std::int64_t elements(const toy::BoundArray& array) {
  std::int64_t result = 1;
  for (const std::int64_t extent : array.extents) result *= extent;
  return result;
}

/// Changes each element in turn. A result depends on it if it changes by far more than rounding.
std::int64_t loads_by_changes(const ProgramTask& task, const toy::BoundProgram& bound) {
  constexpr double kChange = 0.375, kFarMoreThanRounding = 1e-7;
  std::map<std::string, toy::ListInput> inputs;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    toy::ListInput& list = inputs[array.name];
    list.shape = array.extents;
    for (std::int64_t i = 0; i < elements(array); ++i) {
      list.values.push_back(0.5 + 0.4 * std::sin(static_cast<double>(7 * i + 3 * inputs.size())));
    }
  }
  const std::vector<double> before = results(task, bound, inputs);
  std::int64_t loads = 0;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    std::set<std::int64_t> needed;
    for (std::int64_t i = 0; i < elements(array); ++i) {
      if (needed.contains(cell_of(array, i))) continue;
      double& value = inputs[array.name].values[static_cast<std::size_t>(i)];
      value += kChange;
      const std::vector<double> after = results(task, bound, inputs);
      value -= kChange;
      for (std::size_t k = 0; k < before.size(); ++k) {
        const double far = kFarMoreThanRounding * (1 + std::abs(before[k]));
        if (std::abs(after[k] - before[k]) > far) needed.insert(cell_of(array, i));
      }
    }
    loads += static_cast<std::int64_t>(needed.size());
  }
  return loads;
}

/// Computes Posed::scratch_cells.
std::int64_t scratch_cells_of(const ProgramTask& task, const Size& size,
                              const toy::BoundProgram& bound) {
  std::int64_t results = 0, outputs = 0;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    outputs += cells(array);
    if (is_checked(task, array)) results += cells(array);
  }
  const auto stores = task.cost.most.find("stores");
  const bool only_results = stores != task.cost.most.end() &&
                            value_at(stores->second, size) <= toy::Count(std::to_string(results));
  return only_results ? 0 : outputs;
}

}  // namespace

toy::Result<Posed> computation_of(const ProgramTask& task, const Size& size) {
  const auto bound = bind_submission(task, task.solution, size);
  if (!bound) return bound.diagnostics;
  auto computation = optimal::stated_computation(stated(task, size, *bound));
  if (!computation) return computation.diagnostics;
  const bool is_limited = !task.registers.empty();
  Posed posed{std::move(*computation),
              is_limited ? bound->num_registers : kUnlimited,
              task.operands,
              {},
              task.temporaries};
  if (posed.computation.algebra() != nullptr) {
    posed.scratch_cells = scratch_cells_of(task, size, *bound);
  }
  const auto loads = task.cost.most.find("loads");
  if (loads != task.cost.most.end()) {
    posed.most_loads = static_cast<std::int64_t>(value_at(loads->second, size).get_si());
  }
  return posed;
}

optimal::Compulsory compulsory_of(const ProgramTask& task, const Size& size) {
  const auto bound = bind_submission(task, task.solution, size);
  if (!bound) throw std::runtime_error(bound.diagnostics.front().what);
  if (const auto known = optimal::compulsory_transfers(stated(task, size, *bound))) return *known;
  optimal::Compulsory result;
  result.loads = loads_by_changes(task, *bound);
  for (const toy::BoundArray& array : bound->arrays) {
    if (is_checked(task, array)) result.stores += cells(array);
  }
  return result;
}

}  // namespace flashlab::exercises
