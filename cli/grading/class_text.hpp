// Shows a graded class in the terminal.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/report/reports.hpp"

namespace flashlab::cli {

/// Returns one row per student, then the number of students for each outcome.
std::string class_table(const exercises::ClassReport& report, const Terminal& terminal);

}  // namespace flashlab::cli
