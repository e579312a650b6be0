// Measures how fast bytes are read from DRAM, and how fast they are copied within it.
//
//   copy   one vector of 16 bytes per thread
//   read   block b: tiles b, b + gridDim, …: each thread has 4 loads of 16 bytes in flight and
//          combines them by exclusive or
//
// Shapes   source, destination [num_tiles, 4, 256] of 16 bytes: far more than L2 holds
// Grid     copy: one block per 512 vectors. Tried on an H200, TB/s: 4.28; with 4 vectors per thread
//          4.09; with 8 blocks per multiprocessor that loop over the buffer 3.83; cudaMemcpy 4.30
//          read: 8 blocks per multiprocessor x 256 threads
// Counts   copy: bytes read and bytes written; read: bytes read
#include <algorithm>

#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/kept_result.cuh"
#include "compare/cuda/micro_benchmarks.hpp"

namespace flashlab::compare {
namespace {

constexpr int kCopyThreads = 512;
constexpr int kDramReadThreads = 256, kDramReadBlocks = 8;  // per block, per multiprocessor
constexpr int kLoadsUnderWay = 4;
constexpr std::int64_t kDramTileVectors = kDramReadThreads * kLoadsUnderWay;
constexpr std::int64_t kDramTileBytes = kDramTileVectors * sizeof(uint4);
constexpr std::int64_t kBufferBytes = std::int64_t{4} << 30;

__device__ void load_tile(uint4 (&values)[kLoadsUnderWay], const uint4* source, std::int64_t tile) {
#pragma unroll
  for (int i = 0; i < kLoadsUnderWay; ++i) {
    values[i] = source[tile * kDramTileVectors + i * kDramReadThreads + threadIdx.x];
  }
}

__global__ void __launch_bounds__(kCopyThreads)
    dram_copy_kernel(const uint4* __restrict__ source, uint4* __restrict__ destination) {
  const std::int64_t vector = std::int64_t{blockIdx.x} * kCopyThreads + threadIdx.x;
  destination[vector] = source[vector];
}

__global__ void __launch_bounds__(kDramReadThreads)
    dram_read_kernel(const uint4* __restrict__ source, std::int64_t num_tiles,
                     std::uint32_t* sink) {
  std::uint32_t bits = 0;
#pragma unroll 2
  for (std::int64_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
    uint4 values[kLoadsUnderWay];
    load_tile(values, source, tile);
#pragma unroll
    for (int i = 0; i < kLoadsUnderWay; ++i) {
      bits ^= values[i].x ^ values[i].y ^ values[i].z ^ values[i].w;
    }
  }
  keep(bits, sink);
}

__global__ void random_fill_kernel(uint4* destination, std::int64_t num_vectors) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = thread_number(); i < num_vectors; i += step) {
    const auto number = static_cast<std::uint32_t>(i);
    destination[i] = {random_bits(4 * number), random_bits(4 * number + 1),
                      random_bits(4 * number + 2), random_bits(4 * number + 3)};
  }
}

std::int64_t buffer_bytes() {
  std::size_t free_bytes = 0, all_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  const auto quarter = static_cast<std::int64_t>(free_bytes / 4);
  return std::max(std::min(kBufferBytes, quarter) / kDramTileBytes, std::int64_t{1}) *
         kDramTileBytes;
}

void copy(void* destination, const void* source, std::int64_t bytes) {
  constexpr std::int64_t kBlockBytes = kCopyThreads * sizeof(uint4);
  dram_copy_kernel<<<static_cast<unsigned>(bytes / kBlockBytes), kCopyThreads>>>(
      static_cast<const uint4*>(source), static_cast<uint4*>(destination));
  check_launch("dram_copy_kernel");
}

int num_blocks(const cuda::GpuInfo& gpu) { return kDramReadBlocks * gpu.num_multiprocessors; }

}  // namespace

std::vector<MicroBenchmark> dram_benchmarks(const cuda::GpuInfo& gpu) {
  const std::int64_t bytes = buffer_bytes();
  const auto source = std::make_shared<cuda::DeviceMemory>("the buffer to read", bytes);
  const auto destination = std::make_shared<cuda::DeviceMemory>("the buffer to write", bytes);
  random_fill_kernel<<<num_blocks(gpu), kDramReadThreads>>>(
      static_cast<uint4*>(source->data()), bytes / static_cast<std::int64_t>(sizeof(uint4)));
  check_launch("random_fill_kernel");

  const auto copies = [=](int num_rounds) {
    for (int round = 0; round < num_rounds; ++round) {
      copy(destination->data(), source->data(), bytes);
    }
  };
  const auto read = [=](int num_rounds) {
    for (int round = 0; round < num_rounds; ++round) {
      dram_read_kernel<<<num_blocks(gpu), kDramReadThreads>>>(
          static_cast<const uint4*>(source->data()), bytes / kDramTileBytes,
          static_cast<std::uint32_t*>(destination->data()));
      check_launch("dram_read_kernel");
    }
  };
  return {{"DRAM copy", "byte", 2.0 * bytes, copies}, {"DRAM read", "byte", 1.0 * bytes, read}};
}

}  // namespace flashlab::compare
