// A loop that makes a right program cost too much, because it runs rounds that nothing needs.
#pragma once

#include <memory>
#include <optional>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/judge/attempt.hpp"

namespace flashlab::exercises {

struct CostlyBound {
  Finding finding;
  bool is_all =
      false;  // with the rounds that are needed alone, the program gets full marks at this size
};

/// Returns the loop with which the program saves most if it has the bounds of a loop of the solution: it was tried that
/// the program is right then.
std::optional<CostlyBound> costly_bound(const ProgramTask& task,
                                        const std::shared_ptr<const toy::Program>& program,
                                        const Attempt& attempt);

}  // namespace flashlab::exercises
