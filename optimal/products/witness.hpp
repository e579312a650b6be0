// From a path of states to a program that the toy machine runs.
#pragma once

#include <vector>

#include "optimal/problem/answer.hpp"
#include "optimal/products/product_states.hpp"
#include "optimal/products/symmetry.hpp"

namespace flashlab::optimal::detail {

/// The cheapest moves from the first state on whose states are of the same classes as those of the
/// path, one after the other.
std::vector<Move> moves_along(const ProductStates& states, const Symmetry& symmetry,
                              const std::vector<State>& path);

/// The moves as a program, each value in a register of its own.
Witness write_program(const ProductStates& states, const std::vector<Move>& moves,
                      const ProgramFrame& frame);

}  // namespace flashlab::optimal::detail
