// The hardware's counters for the launches of a generated program, read by the GPU library.
#pragma once

#include <functional>
#include <string>

#include "generate/run/gpu_process.hpp"
#include "results/comparison.hpp"

namespace flashlab::cli {

/// Counts in the process that uses the GPU, and returns JSON for take_counted_text(): a range for
/// each launch, or why there is none (no library, no permission).
std::string count_launches_here(const std::function<void(generate::LaunchMarker&)>& call);

/// Gives the row and its steps, which are the launches, what count_launches_here() returned.
void take_counted_text(const std::string& text, compare::Row& row);

}  // namespace flashlab::cli
