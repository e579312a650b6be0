// Whether an exercise's own reference and solution agree. Its author must hear so, and no learner may
// be told that rounding makes the difference.
#pragma once

#include <optional>
#include <string>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

struct Disagreement {
  std::string cell;  // "s[0]"
  double solution = 0, reference = 0;
};

/// Runs the solution in double, so that rounding makes no difference, and compares it with the
/// expected outputs. Returns nothing if they agree, or if that cannot be decided: on several
/// machines, or if the solution has an error.
std::optional<Disagreement> disagreement(const ProgramTask& task, const Size& size,
                                         const Case& entry);

}  // namespace flashlab::exercises
