// Loops that run no round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::exercises {

struct EmptyLoop {
  std::uint32_t loop = 0;         // into BoundProgram::loops
  std::string at;                 // "i = 0": the loops around it; empty if there are none
  std::int64_t from = 0, to = 0;  // its bounds there
};

/// Returns each loop that runs no round once, with the first such place. Looks at the first iterations of long
/// programs only.
std::vector<EmptyLoop> empty_loops(const toy::BoundProgram& bound);

}  // namespace flashlab::exercises
