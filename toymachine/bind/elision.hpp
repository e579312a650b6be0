// Which iterations stand for all of a loop where a run is too long to be shown.
#pragma once

#include <cstdint>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::toy {

/// Whether all loops around a point are in their first, second or last iteration. `innermost`: its
/// loop; `values`: of all loops. Loops outside of `within` (kNoLoop: none) are not considered.
bool survives_elision(const BoundProgram& program, std::uint32_t innermost,
                      const std::int64_t* values, std::uint32_t within = kNoLoop);

}  // namespace flashlab::toy
