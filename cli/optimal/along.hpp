// `flashlab optimal COMPUTATION --along MY.toy`: the best possible cost after each step
// of a program.
#pragma once

#include <atomic>
#include <nlohmann/json_fwd.hpp>

#include "cli/optimal/options.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// Returns the judgement of the program options.along. Throws as print_along().
nlohmann::ordered_json along_json(const OptimalRequest& request, const OptimalOptions& options,
                                  const std::atomic<bool>& cancel);

/// Prints the judgement of the program options.along, as text for `terminal` or as JSON. `cancel`
/// soon ends the searches. Throws Failure: no such program, one that fails, or one for another
/// computation.
void print_along(const OptimalRequest& request, const OptimalOptions& options,
                 const Terminal& terminal, const std::atomic<bool>& cancel);

}  // namespace flashlab::cli
