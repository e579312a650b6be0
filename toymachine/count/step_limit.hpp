// Refuses a run that would take too many steps before its first one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// Returns an error if the program takes more than Limits::max_steps. Returns nothing if its steps
/// cannot be counted; the interpreter's own limit then decides.
std::optional<Diagnostic> too_many_steps(const BoundProgram& program);
/// The same for all machines of a program together.
std::optional<Diagnostic> too_many_steps(std::span<const BoundProgram> machines);
/// The same if the number of executions of each instruction is known.
std::optional<Diagnostic> too_many_steps(const BoundProgram& program,
                                         const std::vector<Count>& times);

}  // namespace flashlab::toy::detail
