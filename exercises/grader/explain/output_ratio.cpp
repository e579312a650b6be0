#include "exercises/grader/explain/output_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kRatioCases = 3;

using NamedRatio = std::pair<std::string, double>;

/// The numbers that programs forget, or take twice.
std::vector<NamedRatio> possible_ratios(const ProgramTask& task, const Size& size) {
  std::vector<NamedRatio> ratios{{"-1", -1.0}, {"2", 2.0}, {"1/2", 0.5}};
  const auto add = [&](const std::string& name, double value) {
    if (std::isfinite(value) && value != 0) ratios.emplace_back(name, value);
  };
  const auto bound = bind_machines(task, task.solution, size);
  if (bound && !bound->machines) {
    for (std::size_t i = 0; i < bound->bound.consts.size(); ++i) {
      const std::string& name = bound->bound.program->consts[i].name;
      const double value = std::visit([](auto number) { return static_cast<double>(number); },
                                      bound->bound.consts[i]);
      add(name, value);
      add("1/" + name, 1 / value);
      add(name + "^2", value * value);
      add("1/" + name + "^2", 1 / (value * value));
    }
  }
  for (const auto& [name, number] : size) {
    const auto value = static_cast<double>(number);
    add(name, value);
    add("1/" + name, 1 / value);
    add("(" + name + " - 1)", value - 1);
    add("1/(" + name + " - 1)", 1 / (value - 1));
    add("(" + name + " - 1)/" + name, (value - 1) / value);
    add(name + "/(" + name + " - 1)", value / (value - 1));
  }
  return ratios;
}

}  // namespace

std::set<std::string> output_ratios(const ProgramTask& task,
                                    const std::shared_ptr<const toy::Program>& program,
                                    const std::string& output, const SizedCases& sized) {
  const auto all = bind_machines(task, program, sized.size);
  if (!all || all->machines || toy::array_bytes_error(all->bound)) return {};
  std::vector<NamedRatio> ratios = possible_ratios(task, sized.size);
  std::vector<std::size_t> order = plainest_first(sized.cases);
  order.resize(std::min(order.size(), kRatioCases));
  for (const std::size_t i : order) {
    const Case& entry = sized.cases[i];
    const auto dram = dram_for(all->bound, entry);
    const auto wanted = entry.expected.find(output);
    if (!dram || wanted == entry.expected.end()) return {};
    std::vector<float> cells(dram->begin(), dram->end());
    if (!toy::run(all->bound, std::span<float>(cells))) return {};
    const auto array = std::find_if(all->bound.arrays.begin(), all->bound.arrays.end(),
                                    [&](const toy::BoundArray& a) { return a.name == output; });
    const double scale = scale_of(wanted->second), allowed = task.tolerance.of(output);
    std::erase_if(ratios, [&](const NamedRatio& ratio) {
      for (std::int64_t at = 0; at < array->size; ++at) {
        const double value = cells[static_cast<std::size_t>(array->offset + at)];
        const double expected = wanted->second.values[static_cast<std::size_t>(at)];
        const double factor = ratio.second;
        if (!close_enough(value, factor * expected, std::abs(factor) * scale, allowed)) return true;
      }
      return false;
    });
  }
  std::set<std::string> names;
  for (const NamedRatio& ratio : ratios) names.insert(ratio.first);
  return names;
}

}  // namespace flashlab::exercises
