// Runs a program only on the shapes of its tiles.
#pragma once

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// Returns the executions and their work. Errors as for run_shapes(), except that the limit of
/// steps ends the run only when it is reached.
Result<Execution> run_on_shapes(const BoundProgram& program);

}  // namespace flashlab::toy::detail
