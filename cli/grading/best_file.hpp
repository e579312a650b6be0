// The file of the lowest costs ever submitted: `flashlab grade --best FILE`.
#pragma once

#include <string>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/best_costs.hpp"

namespace flashlab::cli {

/// Merges the costs into the file and returns the minimum at this size. Creates the file if necessary,
/// replaces it as a whole if a cost is lower, and locks it (FILE.lock) meanwhile, so that
/// concurrent processes lose nothing. Throws Failure: it cannot be read or written, or is
/// damaged; then it stays unchanged.
struct BestEver {
  exercises::Costs costs;
  std::string note;  // if the file has costs of the exercise, but at other sizes; may be empty
};
BestEver update_best_file(const std::string& path, const std::string& exercise,
                          const exercises::Size& size, const exercises::Costs& costs);

}  // namespace flashlab::cli
