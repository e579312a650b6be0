// How a row's counts of what a multiprocessor's units do compare with the GPU's own counters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/rows/sweep.hpp"
#include "results/comparison.hpp"

namespace flashlab::compare {

/// Clocks of each unit as they were counted, divided by those that the counters found. Nothing: not
/// counted, not measured, or no clock.
struct CountedUnits {
  std::optional<double> products;
  /// The counters are read at another clock than the times. Where the tensor cores work, these are in
  /// clocks of theirs, which FLOPs alone determine.
  std::optional<double> shared, issue, exps;
};

/// Of the longest of a row's kernels.
CountedUnits counted_units(const Row& row);

/// In shorter rows, the starts and ends of blocks are much of the work, and are not counted.
inline constexpr std::int64_t kCountedSeqlen = 2048;

/// The rows of one kernel and type.
struct KernelSummary {
  std::string kernel, type;    // "flash2_mma_tf32_sm80", "tf32"
  Share close, near;           // times within 15 % and 30 %, N >= 1024
  double least = 0, most = 0;  // predicted over measured time of these rows
  CountedUnits units;          // the median of rows with N >= kCountedSeqlen
};

/// In the order of the rows. Kernels without measured times are left out.
std::vector<KernelSummary> kernel_summaries(const std::vector<Row>& rows);

}  // namespace flashlab::compare
