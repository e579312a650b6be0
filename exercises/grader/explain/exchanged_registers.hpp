// Registers that hold each other's values after a line, as the old and the new maximum.
#pragma once

#include <string>

#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/repair/repair.hpp"

namespace flashlab::exercises {

/// " Before line 28, R1 holds what belongs in R3, and R3 what belongs in R1.", beside the repaired program, with a space
/// before it. Empty if that is not so on the inputs of the failure and at a second size, or of more than two registers.
std::string exchanged_registers_text(const FailedAttempt& failed, const Repair& repair);

}  // namespace flashlab::exercises
