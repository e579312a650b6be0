// How long a block of a launch at level 0 takes: its tiles are in shared memory, and all of its threads execute
// one instruction of the program after the other.
#pragma once

#include "cli/gpu/planned_program.hpp"
#include "compare/model/tile_time.hpp"

namespace flashlab::cli {

/// Returns the clocks of a block, on average over the blocks of a problem.
compare::WholeBlock level_0_block(const PlannedProgram& program, const generate::Launch& launch,
                                  const gpu::GpuSpec& gpu);

}  // namespace flashlab::cli
