// Shows the distribution of a class's costs in the terminal.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/report/reports.hpp"

namespace flashlab::cli {

/// Returns a bar for each bin; a legend explains the letters after it.
std::string histogram_text(const exercises::Histogram& histogram, const Terminal& terminal);

}  // namespace flashlab::cli
