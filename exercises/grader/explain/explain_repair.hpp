// Finds the line of the fault: where a single change makes a wrong program right, or where the run
// departs from the solution's values.
#pragma once

#include <memory>
#include <optional>

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/explain/failed_run.hpp"
#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/explain/wrong_value.hpp"

namespace flashlab::exercises {

/// The changes that make the program right. `suspect` is the line of the first wrong step, or 0.
Repairs repairs_of(const FailedAttempt& failed, std::uint32_t suspect);

/// Names the place of the fault. On scalars it does not reveal the change. `run` is null on tiles;
/// `wrong` is its first wrong step, and `value` the first wrong value.
void point_at_fault(const FailedAttempt& failed, const FailedRun* run,
                    const std::optional<WrongStep>& wrong, const std::optional<WrongValue>& value,
                    const Repairs& repairs, Finding& finding);

/// If an index of a program is out of range before it runs, because a loop goes one round too far,
/// names the loop. Returns whether it did.
bool point_at_bound(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                    const SizedCases& sized, const toy::SourceText& text, Finding& finding);

}  // namespace flashlab::exercises
