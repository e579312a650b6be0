// From a path of states to a program that the toy machine runs.
#pragma once

#include <vector>

#include "optimal/problem/answer.hpp"
#include "optimal/products/product_states.hpp"
#include "optimal/products/symmetry.hpp"

namespace flashlab::optimal::detail {

/// Returns moves from the path's first state through the symmetry classes of its other states, at
/// each step the cheapest.
std::vector<Move> moves_along(const ProductStates& states, const Symmetry& symmetry,
                              const std::vector<State>& path);

/// Writes the moves as a program. Each value has one register for as long as it is held.
Witness write_program(const ProductStates& states, const std::vector<Move>& moves,
                      const ProgramFrame& frame);

}  // namespace flashlab::optimal::detail
