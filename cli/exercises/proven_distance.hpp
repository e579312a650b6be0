// How far a program is from the proven best, for the hint in the first line of an exercise's file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "toymachine/language/program.hpp"

namespace flashlab::cli {

/// Returns "2 above the proven best at n = 3", "the proven best at n = 3", or "the proven best is 19
/// cycles at n = 3" if the program costs less, because something is still missing. The size is the
/// largest one whose best is proved, or for which at least bounds are: "4 to 8 above". Empty if the
/// file is not named after an exercise, nothing is proved of it, or the program does not fit it.
std::string proven_distance(std::string_view file,
                            const std::shared_ptr<const toy::Program>& program);

}  // namespace flashlab::cli
