// Measures how fast registers are loaded from shared memory: 16 bytes per thread, a warp's 512
// bytes contiguous, so that no two of its threads access one bank in the same cycle.
//
// Tiles    8 x 256 x 16 bytes, 32 KiB per block; each round reads all of them
// Grid     4 blocks per multiprocessor x 256 threads, or as many as fit
// Counts   bytes that arrive in registers; 4 exclusive ors combine every two loads and need less
//          than half the cycles of the loads
#include <algorithm>

#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/kept_result.cuh"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/copies.cuh"

namespace flashlab::compare {
namespace {

constexpr int kSharedMemoryThreads = 256, kLoadsPerRound = 8, kMostBlocksPerMultiprocessor = 4;

__global__ void __launch_bounds__(kSharedMemoryThreads)
    shared_memory_kernel(int num_rounds, std::uint32_t* sink) {
  __shared__ uint4 values[kLoadsPerRound][kSharedMemoryThreads];
  const std::uint32_t seed = 4 * thread_number();
#pragma unroll
  for (int i = 0; i < kLoadsPerRound; ++i) {
    values[i][threadIdx.x] = {random_bits(seed + i), random_bits(seed + i + 1),
                              random_bits(seed + i + 2), random_bits(seed + i + 3)};
  }
  __syncthreads();
  const auto first = static_cast<std::uint32_t>(__cvta_generic_to_shared(&values[0][threadIdx.x]));
  uint4 bits = {0, 0, 0, 0};
#pragma unroll 4
  for (int round = 0; round < num_rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kLoadsPerRound; ++i) {
      const uint4 value = ptx::load_shared_16(first + i * static_cast<int>(sizeof(values[0])));
      bits.x ^= value.x;
      bits.y ^= value.y;
      bits.z ^= value.z;
      bits.w ^= value.w;
    }
  }
  keep(bits.x ^ bits.y ^ bits.z ^ bits.w, sink);
}

}  // namespace

std::vector<MicroBenchmark> shared_memory_benchmarks(const cuda::GpuInfo& gpu) {
  int fitting = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, shared_memory_kernel,
                                                           kSharedMemoryThreads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const int num_blocks = std::min(fitting, kMostBlocksPerMultiprocessor) * gpu.num_multiprocessors;
  const auto sink = std::make_shared<cuda::DeviceMemory>("shared memory", sizeof(std::uint32_t));
  const auto launch = [=](int num_rounds) {
    shared_memory_kernel<<<num_blocks, kSharedMemoryThreads>>>(
        num_rounds, static_cast<std::uint32_t*>(sink->data()));
    check_launch("shared_memory_kernel");
  };
  const double bytes_per_round =
      1.0 * num_blocks * kSharedMemoryThreads * kLoadsPerRound * sizeof(uint4);
  return {{"shared memory", "byte", bytes_per_round, launch}};
}

}  // namespace flashlab::compare
