// The file of the best costs ever submitted: `flashlab grade --best FILE`.
#pragma once

#include <string>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/best_costs.hpp"

namespace flashlab::cli {

/// Enters the costs and returns what is best then. The file is made when there is none, replaced
/// whole when something is better, and locked (FILE.lock) meanwhile, so that two processes lose
/// nothing. Throws Failure: it cannot be read or written, or is damaged; it stays as it is then.
exercises::Costs update_best_file(const std::string& path, const std::string& exercise,
                                  const exercises::Size& size, const exercises::Costs& costs);

}  // namespace flashlab::cli
