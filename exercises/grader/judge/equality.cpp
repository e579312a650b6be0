#include "exercises/grader/judge/equality.hpp"

#include <algorithm>
#include <optional>

#include "exercises/grader/judge/solution_forms.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/forms/value_numbers.hpp"

namespace flashlab::exercises {
namespace {

struct Steps {
  toy::BoundProgram bound;
  toy::UnrolledProgram unrolled;
};

std::optional<Steps> steps_at(const ProgramTask& task,
                              const std::shared_ptr<const toy::Program>& program,
                              const Size& size) {
  auto all = bind_machines(task, program, size);
  if (!all) return std::nullopt;
  auto unrolled = unroll(*all, static_cast<std::uint64_t>(task.limits.max_steps));
  if (!unrolled) return std::nullopt;
  return Steps{std::move(all->bound), std::move(*unrolled)};
}

/// The checked outputs of a run, in the order of `check`.
std::vector<toy::ValueNumber> outputs(const toy::BoundProgram& bound, const toy::NumberedRun& run,
                                      const std::vector<std::string>& check) {
  std::vector<toy::ValueNumber> numbers;
  for (const std::string& name : check) {
    for (const toy::BoundArray& array : bound.arrays) {
      if (array.name != name) continue;
      const auto first = run.dram.begin() + array.offset;
      numbers.insert(numbers.end(), first, first + array.size);
    }
  }
  return numbers;
}

bool same_floats(const ProgramTask& task, const Steps& mine, const Steps& solution) {
  toy::ValueTable table;
  const auto a = toy::run_numbers(mine.bound, mine.unrolled, table);
  const auto b = toy::run_numbers(solution.bound, solution.unrolled, table);
  return a && b && outputs(mine.bound, *a, task.check) == outputs(solution.bound, *b, task.check);
}

bool proved_at_all_sizes(const ProgramTask& task,
                         const std::shared_ptr<const toy::Program>& program) {
  std::size_t proved = 0;
  for (const Size& size : task.sizes) {
    const auto solution = steps_at(task, task.solution, size);
    if (!solution) continue;  // the size uses tiles
    const auto mine = steps_at(task, program, size);
    if (!mine || !same_floats(task, *mine, *solution)) return false;
    ++proved;
  }
  return proved > 0;
}

bool proved_by_forms(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program) {
  std::size_t proved = 0;
  for (const Size& size : task.sizes) {
    const auto solution = solution_at(task, size);
    if (solution == nullptr) continue;
    const auto mine = steps_at(task, program, size);
    if (!mine) return false;
    const auto run = toy::run_normal(mine->bound, mine->unrolled);
    if (!run) continue;
    if (differing_output(mine->bound, mine->unrolled, *solution, task.check)) return false;
    ++proved;
  }
  return proved > 0;
}

}  // namespace

bool same_on_paper(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program) {
  return proved_by_forms(task, program);
}

Proof prove_equal(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program) {
  if (proved_at_all_sizes(task, program)) return Proof::kSameFloats;
  const bool algebra = !task.numerics.range_safe && !task.numerics.rounding_safe;
  return algebra && proved_by_forms(task, program) ? Proof::kSameForms : Proof::kNone;
}

}  // namespace flashlab::exercises
