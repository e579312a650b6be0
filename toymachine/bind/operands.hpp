// Binds operands: registers and cells as affine indices, and the checks that need the whole nest.
#pragma once

#include <optional>

#include "toymachine/bind/binding_step.hpp"

namespace flashlab::toy::detail {

/// Binds one operand inside the loops bound so far; returns nothing after an error.
std::optional<BoundOperand> bind_operand(BindingState& state, const Operand& operand);

/// Counts the machine's registers if `.registers` did not, numbers constants after them, and checks
/// that registers and cells exist. Needs all instructions. Errors go to the state.
void check_operands(BindingState& state);

}  // namespace flashlab::toy::detail
