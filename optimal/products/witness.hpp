// From a path of states to a program that the toy machine runs.
#pragma once

#include <vector>

#include "optimal/problem/answer.hpp"
#include "optimal/products/product_states.hpp"
#include "optimal/products/symmetry.hpp"

namespace flashlab::optimal::detail {

/// Returns the cheapest moves, starting at the path's first state, whose states are in the classes
/// of the path's states.
std::vector<Move> moves_along(const ProductStates& states, const Symmetry& symmetry,
                              const std::vector<State>& path);

/// Writes the moves as a program, with a separate register for each value.
Witness write_program(const ProductStates& states, const std::vector<Move>& moves,
                      const ProgramFrame& frame);

}  // namespace flashlab::optimal::detail
