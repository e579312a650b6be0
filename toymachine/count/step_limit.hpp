// Refuses a run that would take too many steps before its first one.
#pragma once

#include <optional>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// An error if the program takes more than Limits::max_steps. Nothing where its steps cannot be
/// counted: then the interpreter's own limit decides.
std::optional<Diagnostic> too_many_steps(const BoundProgram& program);
/// The same, when it is known how often each instruction is executed.
std::optional<Diagnostic> too_many_steps(const BoundProgram& program,
                                         const std::vector<Count>& times);

}  // namespace flashlab::toy::detail
