// Measures how fast L2 feeds the multiprocessors: cp.async past L1, as the attention
// kernels load tiles.
//
//   block b: the whole buffer, from its b-th part on and around; num_rounds times
//
// Shapes   buffer [num_tiles, 4, 128] of 16 bytes, a third of L2: in L2 after the first round
// Tiles    4 in shared memory, 8 KiB each; 3 in flight; their contents are not used
// Grid     as many blocks as fit at once x 128 threads; each begins at another place, so that they
//          do not all access the same slice of L2
// Counts   bytes that arrive in shared memory
#include <algorithm>

#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/kept_result.cuh"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/copies.cuh"

namespace flashlab::compare {
namespace {

constexpr int kL2Threads = 128, kCopiesPerTile = 4, kStages = 4;
constexpr int kL2TileVectors = kL2Threads * kCopiesPerTile;
constexpr std::int64_t kL2TileBytes = kL2TileVectors * sizeof(uint4);

__global__ void __launch_bounds__(kL2Threads)
    l2_kernel(const uint4* buffer, int num_tiles, int num_rounds, std::uint32_t* sink) {
  __shared__ uint4 tiles[kStages][kL2TileVectors];
  const auto first = static_cast<std::uint32_t>(__cvta_generic_to_shared(&tiles[0][threadIdx.x]));
  int tile = static_cast<int>(std::int64_t{num_tiles} * blockIdx.x / gridDim.x);
  for (int round = 0; round < num_rounds; ++round) {
#pragma unroll 4
    for (int i = 0; i < num_tiles; ++i) {
      const uint4* const source = buffer + std::int64_t{tile} * kL2TileVectors + threadIdx.x;
#pragma unroll
      for (int copy = 0; copy < kCopiesPerTile; ++copy) {
        const int place = (i % kStages * kCopiesPerTile + copy) * kL2Threads;
        ptx::cp_async_16(first + place * static_cast<int>(sizeof(uint4)),
                         source + copy * kL2Threads);
      }
      ptx::cp_async_commit();
      ptx::cp_async_wait<kStages - 1>();
      tile = tile + 1 == num_tiles ? 0 : tile + 1;
    }
  }
  ptx::cp_async_wait<0>();
  keep(tiles[0][threadIdx.x].x, sink);
}

}  // namespace

std::vector<MicroBenchmark> l2_benchmarks(const cuda::GpuInfo& gpu) {
  const int num_tiles =
      static_cast<int>(std::max<std::int64_t>(gpu.l2_bytes / 3 / kL2TileBytes, 1));
  const auto buffer =
      std::make_shared<cuda::DeviceMemory>("the buffer in L2", num_tiles * kL2TileBytes);
  const auto sink = std::make_shared<cuda::DeviceMemory>("L2 to SM", sizeof(std::uint32_t));
  buffer->fill(0x5a);
  int blocks_per_multiprocessor = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, l2_kernel,
                                                           kL2Threads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const int num_blocks = blocks_per_multiprocessor * gpu.num_multiprocessors;
  const auto launch = [=](int num_rounds) {
    l2_kernel<<<num_blocks, kL2Threads>>>(static_cast<const uint4*>(buffer->data()), num_tiles,
                                          num_rounds, static_cast<std::uint32_t*>(sink->data()));
    check_launch("l2_kernel");
  };
  return {{"L2 to SM", "byte", 1.0 * num_blocks * num_tiles * kL2TileBytes, launch}};
}

}  // namespace flashlab::compare
