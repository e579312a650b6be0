// Symmetries of a computation: renumberings of the inputs that leave the set of outputs as it is.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "optimal/problem/decomposition.hpp"

namespace flashlab::optimal {

using CellName = std::pair<std::string, std::vector<std::int64_t>>;  // array and indices
using Renumbering = std::vector<int>;                                // by input: its replacement

/// Finds symmetries that swap two cells, two values of an index, or arrays of the same shape. Each
/// candidate is tested with numbers, at three points. `cells`: the inputs that some output depends
/// on.
std::vector<Renumbering> symmetries(const std::vector<Stated::Cell>& outputs,
                                    const std::vector<CellName>& cells);

}  // namespace flashlab::optimal
