// First step of binding: the values of parameters and constants, registers, and sizes of arrays.
#pragma once

#include "toymachine/bind/binding_step.hpp"

namespace flashlab::toy::detail {

/// Binds everything that the program declares outside its statements. Errors go to the state.
void bind_declarations(BindingState& state);

}  // namespace flashlab::toy::detail
