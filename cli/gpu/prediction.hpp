// The time that a generated program should take on a GPU, from its counts and the GPU's rates.
#pragma once

#include <cstdint>
#include <string>

#include "cli/gpu/planned_program.hpp"
#include "results/machine_model.hpp"

namespace flashlab::cli {

/// Returns the GPU's rates for generated code, whose products read their factors from shared memory:
/// at level 0 with ordinary arithmetic, at level 1 on tensor cores.
compare::MachineModel generated_rates(const compare::MachineModel& machine,
                                      const generate::Plan& plan);

/// Returns the machine of a GPU: measured rates if this program contains them, else the data
/// sheet's.
compare::MachineModel machine_of(const gpu::GpuSpec& gpu);

/// Returns the program as one row with a step for each launch: counted, and predicted for this
/// machine. Throws Failure: a count of 2^63 or more.
compare::Row predicted_row(const PlannedProgram& program, std::int64_t problems,
                           const compare::MachineModel& machine);

/// Returns the minimum time of any kernel that computes the same, by the data sheet: reading the
/// inputs once, or the products at the rate of ordinary arithmetic or, at level 1, of tensor cores.
double least_ms(const compare::Row& row, const compare::MachineModel& data_sheet, bool at_level_1);

}  // namespace flashlab::cli
