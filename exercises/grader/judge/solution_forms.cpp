// Computes the solution's values as formulas.
#include "exercises/grader/judge/solution_forms.hpp"

#include <algorithm>

#include "exercises/grader/submission/submission.hpp"
#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::exercises {
namespace {

/// Formulas of longer runs are too long for a reader.
constexpr std::uint64_t kMostFormulaSteps = 600;

const toy::BoundArray* find_array(const toy::BoundProgram& bound, const std::string& name) {
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

}  // namespace

const toy::NormalForm& SolutionAt::output(const std::string& array, std::int64_t element) const {
  static const toy::NormalForm kNone;
  const toy::BoundArray* found = find_array(bound, array);
  if (found == nullptr || element >= found->size) return kNone;
  return run.dram[static_cast<std::size_t>(found->offset + element)];
}

bool is_plain(const toy::NormalForm& form) {
  if (!form.is_written()) return true;
  toy::FormAlgebra algebra;
  if (algebra.number(form)) return true;
  const auto function = algebra.function(form);
  return function && function->kind == toy::FormFunction::Kind::kCell;
}

std::unique_ptr<SolutionAt> solution_at(const ProgramTask& task, const Size& size) {
  auto all = bind_machines(task, task.solution, size);
  if (!all || all->bound.tiled) return nullptr;
  auto unrolled = unroll(*all, kMostFormulaSteps);
  toy::BoundProgram* const bound = &all->bound;
  if (!unrolled) return nullptr;
  auto run = toy::run_normal(*bound, *unrolled);
  if (!run) return nullptr;
  auto result = std::make_unique<SolutionAt>();
  for (const toy::NormalForm& form : run->results) result->hashes.insert(form.hash());
  result->is_polynomial = !task.numerics.range_safe && !task.numerics.rounding_safe;
  result->is_plain = true;
  for (const toy::BoundArray& array : bound->arrays) {
    if (array.role == toy::ArrayRole::kTemp) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      const toy::NormalForm& form = run->dram[static_cast<std::size_t>(array.offset + i)];
      if (array.role == toy::ArrayRole::kInput) {
        result->hashes.insert(form.hash());
        continue;
      }
      result->is_plain = result->is_plain && is_plain(form);
      if (!form.is_written() || !form.is_polynomial()) {
        result->is_polynomial = false;
      }
    }
  }
  result->bound = std::move(*bound);
  result->unrolled = std::move(*unrolled);
  result->run = std::move(*run);
  return result;
}

std::optional<WrongOutput> differing_output(const toy::BoundProgram& bound,
                                            const toy::UnrolledProgram& unrolled,
                                            const SolutionAt& solution,
                                            const std::vector<std::string>& check) {
  const auto run = toy::run_normal(bound, unrolled);
  if (!run) return std::nullopt;
  for (std::size_t a = 0; a < bound.arrays.size(); ++a) {
    const toy::BoundArray& array = bound.arrays[a];
    if (std::find(check.begin(), check.end(), array.name) == check.end()) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      const toy::NormalForm& mine = run->dram[static_cast<std::size_t>(array.offset + i)];
      if (!(mine == solution.output(array.name, i))) return WrongOutput{a, i, 0, 0};
    }
  }
  return std::nullopt;
}

}  // namespace flashlab::exercises
