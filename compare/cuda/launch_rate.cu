// Measures the cost of a launch: empty kernels, one after another on one stream. The slower of host
// and GPU determines the rate.
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/micro_benchmarks.hpp"

namespace flashlab::compare {
namespace {

__global__ void empty_kernel() {}

}  // namespace

std::vector<MicroBenchmark> launch_benchmarks(const cuda::GpuInfo&) {
  const auto launch = [](int num_rounds) {
    for (int round = 0; round < num_rounds; ++round) empty_kernel<<<1, 32>>>();
    check_launch("empty_kernel");
  };
  return {{"launches", "launch", 1, launch}};
}

}  // namespace flashlab::compare
