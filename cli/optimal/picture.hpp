// The frontier as a picture: cycles of the cheapest programs over registers.
#pragma once

#include <string>
#include <vector>

#include "cli/optimal/options.hpp"
#include "cli/optimal/text.hpp"

namespace flashlab::cli {

/// An SVG file by itself. A line of steps for each operand rule; what is not proved as a bar from
/// the bound to the best program; what is proved impossible as a shaded stretch; for products a
/// line for the compulsory cycles, of programs that load each element once.
std::string frontier_svg(const std::vector<Solved>& all, const OptimalRequest& request,
                         const OptimalOptions& options);

}  // namespace flashlab::cli
