// Explains to the learner why a submission is wrong or costs too much.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/solution_forms.hpp"
#include "exercises/grader/repair/repair.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::exercises {

/// The same submission's runs at other sizes: made once, for all claims that are checked there.
class RunsElsewhere;
std::shared_ptr<RunsElsewhere> no_runs_elsewhere();

/// A failed attempt and what is needed to explain it. `solution` may be null.
struct FailedAttempt {
  const ProgramTask& task;
  const toy::SourceText& text;
  const std::shared_ptr<const toy::Program>& program;
  const Attempt& attempt;
  const SolutionAt* solution;
  const std::vector<RepairSize>& sizes;  // where repairs are tried
  std::size_t failing;                   // into `sizes`; SIZE_MAX: none of them
  const std::vector<RepairSize>& all;    // where what is said is checked; includes drawn sizes
  const std::shared_ptr<RunsElsewhere> elsewhere = no_runs_elsewhere();
};

/// Returns "n = 2, random inputs": the size, and the family of one of its cases.
std::string inputs_text(const SizedCases& sized, std::size_t entry);
std::string inputs_text(const FailedAttempt& failed);

/// The finding of a submission whose grading takes too long.
Finding over_budget(const toy::BudgetExceeded& over);

/// States what went wrong, without searching for the reason.
Finding state_failure(const FailedAttempt& failed);

/// Returns explanations, the most important first; never empty.
std::vector<Finding> explain_failure(const FailedAttempt& failed);

/// Returns places where a right program costs more than full marks allow; may be empty. Of counters
/// that cost no points nothing is said. A loop that runs too often comes first, and explains what its lines cost.
std::vector<Finding> explain_cost(const ProgramTask& task, const toy::SourceText& text,
                                  const std::shared_ptr<const toy::Program>& program,
                                  const Attempt& attempt, const std::vector<CostLine>& costs);

}  // namespace flashlab::exercises
