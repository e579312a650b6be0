// The line where a single change makes a wrong program right.
#pragma once

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/explain/explain.hpp"

namespace flashlab::exercises {

/// Where one change makes the program right, that place is where the fault is: the finding names
/// it. The change itself is not given away.
void point_at_repair(const FailedAttempt& failed, Finding& finding);

}  // namespace flashlab::exercises
