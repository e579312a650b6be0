// Another element type for the arrays of a program.
#pragma once

#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// An array that keeps float, and why.
struct KeptType {
  std::string array, reason;
};

/// Gives the inputs and outputs in float this type. Those with one number per row (lse) keep float,
/// like temporaries, and so do arrays to which an instruction adds in one step. Returns these.
std::vector<KeptType> set_element_type(toy::BoundProgram& program, toy::ElementType type);

/// Returns the type's name, as in --dtype and in names of kernels.
std::string to_string(toy::ElementType type);

}  // namespace flashlab::generate
