// One row measured on the GPU at hand: the call and its kernels by CUDA events, and what the
// hardware counted.
#pragma once

#include "compare/rows/gpu_library.hpp"
#include "compare/rows/rows.hpp"

namespace flashlab::compare {

/// Sets row.measured and those of its steps, or row.failure: no memory (found out before any is
/// asked for), no kernel, an error, NaN in an output, a time below the floor.
void measure(Row& row, const MachineModel& data_sheet, const MeasureOptions& options);

}  // namespace flashlab::compare
