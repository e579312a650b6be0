// The solution of an exercise with the loop variables of a learner's program, so that lines of both can be
// compared: a learner who writes `for r` for `for i` writes another text, and the same program.
#pragma once

#include <memory>

#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Loops belong together in their order, if both programs have the same nest of loops; else those of equal
/// depth, as many as possible. Returns the solution itself if no name differs.
std::shared_ptr<const toy::Program> with_loop_names(
    const std::shared_ptr<const toy::Program>& solution, const toy::Program& program);

}  // namespace flashlab::exercises
