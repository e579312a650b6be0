// Some of an exercise's sizes, as a condition that a program can compute from its parameters: where a
// program that avoids the work would want to be right.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

struct RightSizes {
  std::string name;        // "n <= 16"
  std::string expression;  // in the language of .param: 1 at these sizes, else 0
  bool is_fine = false;    // at most half of what is drawn; else a threshold
};

/// Thresholds at the largest displayed and drawn values, halves, even and odd values of each range, single
/// values beside the displayed ones, all sizes but the timed one, or but those where two parameters lie in given
/// halves or are odd. All contain the displayed sizes.
std::vector<RightSizes> right_sizes(const ProgramTask& task);

}  // namespace flashlab::exercises
