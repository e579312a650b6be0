// The solution's values as formulas. A submission's formulas are compared with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::exercises {

/// The values that the exercise's solution computes at one size, as formulas.
struct SolutionAt {
  toy::BoundProgram bound;
  toy::UnrolledProgram unrolled;
  toy::NormalRun run;
  std::unordered_set<std::size_t> hashes;  // of every computed value
  bool is_polynomial = false;              // all outputs are: equal samples are not enough
  bool is_plain = false;                   // all outputs are: a wrong value may be right by chance

  /// Returns the formula that an output's cell must hold in the end.
  const toy::NormalForm& output(const std::string& array, std::int64_t element) const;
};

/// Whether the value is only a number, or only an input cell.
bool is_plain(const toy::NormalForm& form);

/// Returns null if elements are tiles or the formulas would be too long.
std::unique_ptr<SolutionAt> solution_at(const ProgramTask& task, const Size& size);

/// Returns an output whose formula differs from the solution's. Nothing if all are equal, or if
/// that cannot be decided. Only for polynomial solutions, where a difference is a proof.
std::optional<WrongOutput> differing_output(const toy::BoundProgram& bound,
                                            const toy::UnrolledProgram& unrolled,
                                            const SolutionAt& solution,
                                            const std::vector<std::string>& check);

}  // namespace flashlab::exercises
