// The time that a generated program should take on a GPU, from its counts and the GPU's rates.
#pragma once

#include <cstdint>
#include <string>

#include "cli/gpu/planned_program.hpp"
#include "results/machine_model.hpp"

namespace flashlab::cli {

/// Returns the GPU's rates for generated code of level 0, which multiplies without tensor cores, and
/// with numbers from shared memory. `real`: of its registers.
compare::MachineModel level0_rates(const compare::MachineModel& machine, toy::ElementType real);

/// Returns the machine of a GPU: measured rates if this program contains them, else the data
/// sheet's.
compare::MachineModel machine_of(const compare::GpuSpec& gpu);

/// Returns the program as one row with a step for each launch: counted, and predicted for this
/// machine. Throws Failure: a count of 2^63 or more.
compare::Row predicted_row(const PlannedProgram& program, std::int64_t problems,
                           const compare::MachineModel& machine);

/// Returns the minimum time of any kernel that computes the same, by the data sheet: reading the
/// inputs once, or the products at the rate of ordinary arithmetic.
double least_ms(const compare::Row& row, const compare::MachineModel& data_sheet);

}  // namespace flashlab::cli
