// One row measured on the GPU at hand: the call and its kernels by CUDA events, and what the
// hardware counted.
#pragma once

#include <cstdint>

#include "compare/comparison.hpp"
#include "compare/rows.hpp"

namespace flashlab::compare {

struct MeasureOptions {
  int repeat = 5;          // timed calls, after one that warms up
  std::uint64_t seed = 1;  // of the inputs, which are new for each call
  bool counters = true;
};

/// Sets row.measured and those of its steps, or row.failure: no memory (found out before any is
/// asked for), no kernel, an error, NaN in an output, a time below the floor.
void measure(Row& row, const MachineModel& data_sheet, const MeasureOptions& options);

}  // namespace flashlab::compare
