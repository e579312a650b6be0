// From a path of states to a program that computes the algebra's outputs.
#pragma once

#include <optional>
#include <vector>

#include "optimal/problem/value_space.hpp"

namespace flashlab::optimal::detail {

/// The cheapest moves whose states are of the same classes as those of the path, each value in a
/// register of its own. Nothing where values in between are to stand in the outputs' cells, and
/// find no room there: their scratch cells are used while too few outputs are left to be stored.
std::optional<Witness> write_program(const ValueMoves& space, const std::vector<ValueState>& path);

}  // namespace flashlab::optimal::detail
