// Measures how fast L2 adds to floats, which the multiprocessors send from registers: 16 bytes per
// thread, a warp's 512 bytes contiguous.
//
//   block b: its own part of the buffer, from its first byte to its last; num_rounds times
//
// Shapes   buffer [num_blocks, 8, 256] of 16 bytes, below a third of L2; zeros are added to zeros
// Grid     4 blocks per multiprocessor x 256 threads
// Counts   bytes that are added to
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/additions.cuh"

namespace flashlab::compare {
namespace {

constexpr int kAdditionThreads = 256, kAdditionsPerRound = 8, kAddingBlocksPerMultiprocessor = 4;

__global__ void __launch_bounds__(kAdditionThreads) addition_kernel(float* buffer, int num_rounds) {
  float* const own =
      buffer + 4 * (blockIdx.x * kAdditionThreads * kAdditionsPerRound + threadIdx.x);
  for (int round = 0; round < num_rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kAdditionsPerRound; ++i) {
      ptx::add_4(own + 4 * i * kAdditionThreads, make_float4(0, 0, 0, 0));
    }
  }
}

}  // namespace

std::vector<MicroBenchmark> addition_benchmarks(const cuda::GpuInfo& gpu) {
  const int num_blocks = kAddingBlocksPerMultiprocessor * gpu.num_multiprocessors;
  const double bytes = 1.0 * num_blocks * kAdditionThreads * kAdditionsPerRound * sizeof(float4);
  const auto buffer =
      std::make_shared<cuda::DeviceMemory>("additions", static_cast<std::size_t>(bytes));
  buffer->fill(0);
  return {{"additions", "byte", bytes, [=](int num_rounds) {
             addition_kernel<<<num_blocks, kAdditionThreads>>>(static_cast<float*>(buffer->data()),
                                                               num_rounds);
             check_launch("addition_kernel");
           }}};
}

}  // namespace flashlab::compare
