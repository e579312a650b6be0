#include "exercises/grader/judge/disagreement.hpp"

#include <stdexcept>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::exercises {
namespace {

NamedArrays solution_in_double(const ProgramTask& task, const Size& size, const Case& entry) {
  if (task.solution == nullptr || !task.machines.empty()) return {};
  try {
    return run_reference(task.solution, size, entry.inputs);
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::string element_name(const std::string& name, const NamedArray& array, std::size_t element) {
  toy::BoundArray bound;
  bound.name = name;
  bound.extents = array.extents;
  return bound.element_name(static_cast<std::int64_t>(element));
}

}  // namespace

std::optional<Disagreement> disagreement(const ProgramTask& task, const Size& size,
                                         const Case& entry) {
  const NamedArrays outputs = solution_in_double(task, size, entry);
  for (const auto& [name, expected] : entry.expected) {
    const auto found = outputs.find(name);
    if (found == outputs.end() || found->second.values.size() != expected.values.size()) continue;
    const double scale = scale_of(expected), tolerance = task.tolerance.of(name);
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const double value = found->second.values[i];
      if (close_enough(value, expected.values[i], scale, tolerance)) continue;
      return Disagreement{element_name(name, expected, i), value, expected.values[i]};
    }
  }
  return std::nullopt;
}

}  // namespace flashlab::exercises
