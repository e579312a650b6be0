// One rate of a GPU: a kernel that does one thing many times, and how it is timed.
#pragma once

#include <functional>
#include <string>

#include "compare/model/calibrated_rates.hpp"

namespace flashlab::compare {

struct MicroBenchmark {
  std::string key, unit;  // as CalibratedRate has them
  double operations_per_round = 0;
  /// Puts that many rounds on the default stream. Throws CudaError.
  std::function<void(int num_rounds)> launch;
};

struct SampleOptions {
  int num_samples = 5;
  double sample_ms = 20;  // a sample lasts at least about so long
};

/// Times by CUDA events. As many rounds as fill a sample are found by trying, which also warms the
/// GPU up. Throws CudaError.
CalibratedRate measured_rate(const MicroBenchmark& benchmark, const SampleOptions& options);

}  // namespace flashlab::compare
