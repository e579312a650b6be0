// Sizes where the parameters of an exercise are as unequal as its displayed sizes let them be. What
// is right at all displayed sizes may be wrong where one of them is large and the others are small.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// The parameters that are extents of tiles.
std::set<std::string> parameters_of_tiles(const ProgramTask& task);

/// For each parameter the size where it is one larger than displayed, and all others as small, but
/// not 1, with tiles as each displayed size has them; each with random inputs. Leaves out sizes at
/// which the solution is not right.
std::vector<SizedCases> crossed_cases(const ProgramTask& task);

}  // namespace flashlab::exercises
