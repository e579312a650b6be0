// What a launch costs: empty kernels one after the other on one stream. Whichever is slower, the
// host in asking for them or the GPU in beginning one after the other, decides.
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
