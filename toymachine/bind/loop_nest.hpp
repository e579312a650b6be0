// Second step of binding: makes a flat list of nodes from the statements, and finds the
// ranges of loops.
#pragma once

#include "toymachine/bind/binding_step.hpp"

namespace flashlab::toy::detail {

/// Fills nodes, loops, instructions and labels. Needs the declarations. Errors go to the state.
void bind_nest(BindingState& state);

}  // namespace flashlab::toy::detail
