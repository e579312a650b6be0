// Measures how fast L2 adds to floats, which bulk additions bring from shared memory.
//
//   block b: its own part of the buffer, in bulk additions of 16 KiB; num_rounds times
//
// Shapes   buffer [num_blocks, 4, 16 KiB], below a third of L2; zeros are added to zeros
// Grid     one block per multiprocessor; one thread begins the additions, two of them under way
// Counts   bytes that are added to
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/additions.cuh"

namespace flashlab::compare {
namespace {

constexpr int kBulkThreads = 128, kBulkBytes = 16384, kBulksPerRound = 4, kBulksUnderWay = 2;

__global__ void __launch_bounds__(kBulkThreads)
    bulk_addition_kernel(float* buffer, int num_rounds) {
  __shared__ __align__(128) float zeros[kBulkBytes / sizeof(float)];
  for (std::uint32_t i = threadIdx.x; i < kBulkBytes / sizeof(float); i += kBulkThreads) {
    zeros[i] = 0;
  }
  ptx::fence_shared_for_bulk();
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(zeros));
  float* const own = buffer + blockIdx.x * std::size_t{kBulksPerRound * kBulkBytes / sizeof(float)};
  for (int round = 0; round < num_rounds; ++round) {
    for (int i = 0; i < kBulksPerRound; ++i) {
      ptx::add_bulk(own + i * (kBulkBytes / sizeof(float)), from, kBulkBytes);
      ptx::commit_bulk();
      ptx::wait_bulk<kBulksUnderWay - 1>();
    }
  }
  ptx::wait_bulk<0>();
}

}  // namespace

std::vector<MicroBenchmark> bulk_addition_benchmarks(const cuda::GpuInfo& gpu) {
  if (gpu.compute_capability < 90) return {};
  const int num_blocks = gpu.num_multiprocessors;
  const double bytes = 1.0 * num_blocks * kBulksPerRound * kBulkBytes;
  const auto buffer =
      std::make_shared<cuda::DeviceMemory>("bulk additions", static_cast<std::size_t>(bytes));
  buffer->fill(0);
  return {{"bulk additions", "byte", bytes, [=](int num_rounds) {
             bulk_addition_kernel<<<num_blocks, kBulkThreads>>>(static_cast<float*>(buffer->data()),
                                                                num_rounds);
             check_launch("bulk_addition_kernel");
           }}};
}

}  // namespace flashlab::compare
