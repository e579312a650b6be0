#include "toymachine/count/step_limit.hpp"

#include "toymachine/count/counters.hpp"
#include "toymachine/execute/run_errors.hpp"

namespace flashlab::toy::detail {

std::optional<Diagnostic> too_many_steps(const BoundProgram& program) {
  const auto times = count_times(program);
  if (!times) return std::nullopt;
  return too_many_steps(program, *times);
}

std::optional<Diagnostic> too_many_steps(std::span<const BoundProgram> machines) {
  if (machines.size() == 1) return too_many_steps(machines.front());
  Count total = 0;
  for (const BoundProgram& program : machines) {
    const auto times = count_times(program);
    if (!times) return std::nullopt;
    for (const Count& count : *times) total += count;
  }
  const Limits& limits = machines.front().limits;
  if (total <= Count(static_cast<long>(limits.max_steps))) return std::nullopt;
  return steps_error(limits, "the machines take " + total.get_str() + " steps together");
}

std::optional<Diagnostic> too_many_steps(const BoundProgram& program,
                                         const std::vector<Count>& times) {
  Count total = 0;
  for (const Count& count : times) total += count;
  if (total <= Count(static_cast<long>(program.limits.max_steps))) return std::nullopt;
  return steps_error(program.limits, "the program takes " + total.get_str() + " steps");
}

}  // namespace flashlab::toy::detail
