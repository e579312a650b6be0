// Finds the line where a single change makes a wrong program right.
#pragma once

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/explain/explain.hpp"

namespace flashlab::exercises {

/// Names the place where a single change makes the program right, if there is one: the fault is
/// there. Does not reveal the change.
void point_at_repair(const FailedAttempt& failed, Finding& finding);

}  // namespace flashlab::exercises
