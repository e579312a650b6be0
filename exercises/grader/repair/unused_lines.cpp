#include "exercises/grader/repair/unused_lines.hpp"

#include "exercises/grader/repair/value_runs.hpp"

namespace flashlab::exercises {

std::set<std::uint32_t> unused_lines(const ProgramTask& task,
                                     const std::shared_ptr<const toy::Program>& program,
                                     const SizedCases& sized) {
  auto bound = bound_alone(task, program, sized.size);
  if (!bound || sized.cases.empty()) return {};
  const auto run = run_values(std::move(*bound), sized.cases.front());
  if (!run || !run->is_whole) return {};
  std::set<std::uint32_t> used, unused;
  std::set<std::int64_t> awaited;  // registers that a later step needs
  for (auto step = run->values.steps.rbegin(); step != run->values.steps.rend(); ++step) {
    const std::uint32_t line = run->line(step->site);
    if (!step->is_stored && awaited.erase(step->place) == 0) {
      unused.insert(line);
      continue;
    }
    used.insert(line);
    for (const std::int64_t place : step->reads) {
      if (place >= 0) awaited.insert(place);
    }
  }
  for (const std::uint32_t line : used) unused.erase(line);
  return unused;
}

}  // namespace flashlab::exercises
