// What an exercise's solution computes, as formulas, to hold a submission's against.
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

/// What the exercise's own solution computes at one size, as formulas.
struct SolutionAt {
  toy::BoundProgram bound;
  toy::UnrolledProgram unrolled;
  toy::NormalRun run;
  std::unordered_set<std::size_t> hashes;  // of every value that it ever computes
  bool is_polynomial = false;              // all outputs are: equal samples are not enough

  /// The form that must end up in an output's cell.
  const toy::NormalForm& output(const std::string& array, std::int64_t element) const;
};

/// Nothing when elements are tiles, or the formulas would be too long.
std::unique_ptr<SolutionAt> solution_at(const ProgramTask& task, const Size& size);

/// A right result whose formula is not the solution's: nothing when they are equal, or when that
/// cannot be decided. Only for polynomial solutions, where it is a proof.
std::optional<WrongOutput> differing_output(const toy::BoundProgram& bound,
                                            const toy::UnrolledProgram& unrolled,
                                            const SolutionAt& solution,
                                            const std::vector<std::string>& check);

}  // namespace flashlab::exercises
