// The exercise's solution with its lines in the learner's order, as far as the order does not matter.
#pragma once

#include <memory>

#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Moves instructions of the solution past others that they do not depend on, in straight-line code, if
/// it has more lines in common with the program then. Returns the solution itself if nothing is moved.
std::shared_ptr<const toy::Program> with_line_order(
    const std::shared_ptr<const toy::Program>& solution, const toy::Program& program);

}  // namespace flashlab::exercises
