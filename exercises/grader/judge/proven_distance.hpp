// How far a program is from the proven best, for the hint in the first line of an exercise's file.
#pragma once

#include <memory>
#include <string>

#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Returns "2 above the proven best at n = 3", "the proven best at n = 3", or "the proven best is 19
/// cycles at n = 3" if the program costs less, because something is still missing. The size is the
/// largest one whose best is proved, or for which at least bounds are: "4 to 8 above". Empty if
/// nothing is proved of the exercise, or the program does not fit it. Does not run the program.
std::string proven_distance(const Exercise& exercise,
                            const std::shared_ptr<const toy::Program>& program);

}  // namespace flashlab::exercises
