// Runs a program on the shapes of its tiles, without their values.
#pragma once

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// What was executed, and its work. Errors: those of run_shapes(), but for the limit of steps,
/// which ends the run when it is reached.
Result<Execution> run_on_shapes(const BoundProgram& program);

}  // namespace flashlab::toy::detail
