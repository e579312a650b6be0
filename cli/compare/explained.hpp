// One row of `flashlab compare` explained: what each unit of a multiprocessor does, and which one binds.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "results/comparison.hpp"

namespace flashlab::cli {

/// Returns, for each kernel of the row that takes a notable part of its time, the units as bars,
/// predicted and measured, and the sentence that says which unit binds.
std::string explained_row(const compare::Row& row, const Terminal& terminal);

}  // namespace flashlab::cli
