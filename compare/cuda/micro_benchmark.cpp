#include "compare/cuda/micro_benchmark.hpp"

#include <algorithm>
#include <cmath>

#include "compare/cuda/check_cuda.hpp"

namespace flashlab::compare {
namespace {

/// Two events that time a part of the default stream.
class Stopwatch {
 public:
  Stopwatch() {
    check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
    const cudaError_t error = cudaEventCreate(&end_);
    if (error != cudaSuccess) cudaEventDestroy(start_);
    check_cuda(error, "cudaEventCreate");
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  double ms_of(const MicroBenchmark& benchmark, int num_rounds) {
    check_cuda(cudaEventRecord(start_), "cudaEventRecord");
    benchmark.launch(num_rounds);
    check_cuda(cudaEventRecord(end_), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end_), benchmark.key);
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start_, end_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

/// A quarter of a sample is long enough to estimate the rounds that fill a sample.
int rounds_of_a_sample(const MicroBenchmark& benchmark, double sample_ms, Stopwatch& stopwatch) {
  constexpr double kMostRounds = 1 << 30;
  constexpr double kMargin = 1.1;  // the first rounds ran on a GPU at a lower clock
  double num_rounds = 1;
  while (true) {
    const double ms = stopwatch.ms_of(benchmark, static_cast<int>(num_rounds));
    if (ms >= sample_ms / 4 || num_rounds * 4 > kMostRounds) {
      const double wanted = std::ceil(num_rounds * kMargin * sample_ms / ms);
      return static_cast<int>(std::clamp(wanted, 1.0, kMostRounds));
    }
    num_rounds *= 4;
  }
}

}  // namespace

CalibratedRate measured_rate(const MicroBenchmark& benchmark, const SampleOptions& options) {
  Stopwatch stopwatch;
  const int num_rounds = rounds_of_a_sample(benchmark, options.sample_ms, stopwatch);
  stopwatch.ms_of(benchmark, num_rounds);  // so that the first sample runs at the others' clock
  std::vector<double> sample_ms;
  for (int sample = 0; sample < options.num_samples; ++sample) {
    sample_ms.push_back(stopwatch.ms_of(benchmark, num_rounds));
  }
  return rate_of(benchmark.key, benchmark.unit, benchmark.operations_per_round * num_rounds,
                 std::move(sample_ms));
}

}  // namespace flashlab::compare
