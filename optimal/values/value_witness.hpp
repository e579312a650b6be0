// Turns a path of states into a program that computes the algebra's outputs.
#pragma once

#include <optional>
#include <vector>

#include "optimal/problem/answer.hpp"
#include "optimal/problem/value_space.hpp"

namespace flashlab::optimal::detail {

/// Each state of the path represents its symmetry class. Finds moves through these classes, at each
/// step the cheapest, and writes them as a program. Each value has one register for as long as it
/// is held. Returns nothing if intermediate values must be in the outputs' cells and do not fit: at
/// some step, there are more of them than outputs still to be stored.
std::optional<Witness> write_program(const ValueMoves& space, const std::vector<ValueState>& path);

}  // namespace flashlab::optimal::detail
