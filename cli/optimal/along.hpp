// `flashlab optimal COMPUTATION --along MY.toy`: what is still possible at each step of a program.
#pragma once

#include <atomic>

#include "cli/optimal/options.hpp"

namespace flashlab::cli {

/// Prints the judgement of the program options.along, as text or JSON. `cancel` ends the searches
/// soon. Throws Failure: no such program, one that does not run or is of another computation.
void print_along(const OptimalRequest& request, const OptimalOptions& options,
                 const std::atomic<bool>& cancel);

}  // namespace flashlab::cli
