// A graded class in the terminal.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/report/reports.hpp"

namespace flashlab::cli {

/// One row per student, then how many came to each outcome.
std::string class_table(const exercises::ClassReport& report, const Terminal& terminal);

/// A bar for each bin; the letters behind it are explained below.
std::string histogram_text(const exercises::Histogram& histogram, const Terminal& terminal);

}  // namespace flashlab::cli
