// Why a submission is wrong, or costs more than it should: what is said to the learner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "exercises/grader/attempt.hpp"
#include "exercises/grader/exercise.hpp"
#include "exercises/grader/repair.hpp"
#include "exercises/grader/verdict.hpp"
#include "toymachine/normal_form.hpp"

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

/// A failed attempt and what is needed to explain it. `solution` may be null.
struct FailedAttempt {
  const ProgramTask& task;
  const toy::SourceText& text;
  const std::shared_ptr<const toy::Program>& program;
  const Attempt& attempt;
  const SolutionAt* solution;
  const std::vector<RepairSize>& sizes;  // on scalars, where single repairs can be tried
  std::size_t failing;                   // into `sizes`; SIZE_MAX: it failed on tiles
};

/// "n = 2, random inputs".
std::string inputs_text(const FailedAttempt& failed);

/// What went wrong, without a reason: at once.
Finding state_failure(const FailedAttempt& failed);

/// The most important first; never empty.
std::vector<Finding> explain_failure(const FailedAttempt& failed);

/// A right result whose formula is not the solution's: nothing when they are equal, or when that
/// cannot be decided. Only for polynomial solutions, where it is a proof.
std::optional<WrongOutput> differing_output(const toy::BoundProgram& bound,
                                            const toy::UnrolledProgram& unrolled,
                                            const SolutionAt& solution,
                                            const std::vector<std::string>& check);

/// Where a right program costs more than full marks allow; empty when nothing can be pointed at.
std::vector<Finding> explain_cost(const ProgramTask& task, const toy::SourceText& text,
                                  const Attempt& attempt);

}  // namespace flashlab::exercises
