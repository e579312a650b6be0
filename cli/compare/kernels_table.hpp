// The tables of `flashlab compare --show kernels` and `--sources`.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "results/comparison.hpp"

namespace flashlab::cli {

/// A line for each kernel and type: how many times are close, and how the counts of its units compare
/// with the GPU's counters.
std::string kernels_table(const std::vector<compare::Row>& rows, const Terminal& terminal);

/// The sources' published times, and what is predicted for our kernels on their GPUs, with the reasons
/// why they differ.
std::string sources_table(const Terminal& terminal);

}  // namespace flashlab::cli
