// Measures one rate of a GPU with a kernel that repeats one operation.
#pragma once

#include <functional>
#include <string>

#include "compare/model/calibrated_rates.hpp"

namespace flashlab::compare {

struct MicroBenchmark {
  std::string key, unit;  // as in CalibratedRate
  double operations_per_round = 0;
  /// Launches that many rounds on the default stream. Throws CudaError.
  std::function<void(int num_rounds)> launch;
};

struct SampleOptions {
  int num_samples = 5;
  double sample_ms = 20;  // approximate minimum duration of a sample
};

/// Times by CUDA events. Finds the number of rounds that fill a sample by trial runs, which also
/// warm up the GPU. Throws CudaError.
CalibratedRate measured_rate(const MicroBenchmark& benchmark, const SampleOptions& options);

}  // namespace flashlab::compare
