// Draws the frontier: cycles of the cheapest programs over registers.
#pragma once

#include <string>
#include <vector>

#include "cli/optimal/options.hpp"
#include "cli/optimal/text.hpp"

namespace flashlab::cli {

/// Returns an SVG file: a line of steps for each operand rule; a bar from the bound to the best
/// program if the optimum is not proved; a shaded area where it is proved that no program exists;
/// for products a line for the compulsory cycles of programs that load each element once.
std::string frontier_svg(const std::vector<Solved>& all, const OptimalRequest& request,
                         const OptimalOptions& options);

}  // namespace flashlab::cli
