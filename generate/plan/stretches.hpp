// The parts of a program that become launches.
#pragma once

#include <cstddef>
#include <vector>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::generate {

/// Returns a launch for each pass; for several in one, if a register carries a value from one to
/// another. Only passes, nodes and joins are filled. Errors: Fault::kLimit if the program is too
/// long to examine.
toy::Result<std::vector<Launch>> stretches(const toy::BoundProgram& program);

/// Returns "registers take too long to follow".
toy::Diagnostic too_long_to_follow();

}  // namespace flashlab::generate
