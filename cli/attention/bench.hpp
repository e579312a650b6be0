// `flashlab attention --bench`: time, rate and memory of variants.
#pragma once

#include <string>
#include <vector>

#include "cli/attention/run.hpp"

namespace flashlab::cli {

struct MeasuredVariant {
  std::string variant;
  std::vector<double> seconds;  // sorted
  double flops = 0;             // of one run, usual count
  std::int64_t workspace_bytes = 0;
  int num_threads = 0;

  double median_seconds() const;
  double flops_per_s() const { return flops / median_seconds(); }
};

struct Measurement {
  std::vector<MeasuredVariant> variants;
  double product_flops_per_s = 0;       // measured in this run, with the same threads
  std::int64_t process_peak_bytes = 0;  // of the whole command, including tensors
};

/// Runs each variant `repeat` times after a warm-up, each time on new inputs and with outputs that
/// are filled with NaN. Throws Failure, also if an output contains NaN afterwards.
Measurement measure_attention(const AttentionRequest& request, int repeat);

}  // namespace flashlab::cli
