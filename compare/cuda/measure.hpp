// Measures one row on the current GPU: times of the call and its kernels by CUDA events,
// and hardware counters.
#pragma once

#include "compare/rows/gpu_measurements.hpp"
#include "compare/rows/rows.hpp"

namespace flashlab::compare {

/// Sets row.measured and that of its steps, or row.failure: not enough memory (checked before any
/// allocation), no kernel, an error, NaN in an output, a time below the floor.
void measure(Row& row, const MachineModel& data_sheet, const MeasureOptions& options);

}  // namespace flashlab::compare
