// A class in the order of its times on a GPU.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/report/reports.hpp"

namespace flashlab::cli {

/// Returns a table of the right submissions, the fastest first; equal times have the same place. Empty if
/// the exercise is not about speed, or no submission is right.
std::string speed_ranking(const exercises::ClassReport& report, const Terminal& terminal);

}  // namespace flashlab::cli
