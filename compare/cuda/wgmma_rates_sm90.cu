// Measures how fast the warpgroups of a multiprocessor multiply with wgmma. The timed loop contains
// no loads and no stores.
//
//   each warpgroup:  D [64, 128] += A [64, 64] B [128, 64]^T, twice per round
//
// Tiles    A for each warpgroup and one B, random, in shared memory; D in registers
// Grid     one block per multiprocessor x 2 warpgroups, so that one multiplies while the other waits
// Counts   8 instructions m64n128k16 per warpgroup and round, 262144 FLOPs each
// Shared   96 of 128 bytes per clock: the products, not the operands, are the limit
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/kept_result.cuh"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/wgmma.cuh"

namespace flashlab::compare {
namespace {

constexpr int kWarpgroups = 2, kWarpgroupThreads = 128;
constexpr int kPanelRowBytes = 128, kStepBytes = 32, kPasses = 2;
constexpr int kBytesOfA = 64 * kPanelRowBytes, kBytesOfB = 128 * kPanelRowBytes;
constexpr int kPanelAlignment = 1024, kOperandBytes = kWarpgroups * kBytesOfA + kBytesOfB;
constexpr double kFlopsPerWgmma = 2.0 * 64 * 128 * 16;

/// Operands have either sign and magnitudes in [0.5, 1).
struct WgmmaBf16 {
  static __device__ std::uint32_t operands(std::uint32_t bits) {
    return (bits & 0x807f807fu) | 0x3f003f00u;
  }
  static __device__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b) {
    ptx::wgmma_bf16(d, a, b);
  }
};

struct WgmmaFp16 {
  static __device__ std::uint32_t operands(std::uint32_t bits) {
    return (bits & 0x83ff83ffu) | 0x38003800u;
  }
  static __device__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b) {
    ptx::wgmma_fp16(d, a, b);
  }
};

template <class Product>
__global__ void __launch_bounds__(kWarpgroups* kWarpgroupThreads, 1)
    wgmma_kernel(int num_rounds, std::uint32_t* sink) {
  extern __shared__ std::uint32_t memory[];
  const auto start = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  const std::uint32_t to_align = -start % kPanelAlignment;
  for (std::uint32_t i = threadIdx.x; i < kOperandBytes / 4; i += blockDim.x) {
    memory[to_align / 4 + i] = Product::operands(random_bits(kOperandBytes * blockIdx.x + i));
  }
  ptx::fence_async_proxy();
  __syncthreads();
  const std::uint32_t tiles = start + to_align;
  const std::uint64_t a =
      ptx::panel_descriptor(tiles + threadIdx.x / kWarpgroupThreads * kBytesOfA);
  const std::uint64_t b = ptx::panel_descriptor(tiles + kWarpgroups * kBytesOfA);
  float d[64] = {};
  for (int round = 0; round < num_rounds; ++round) {
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kPasses * kPanelRowBytes / kStepBytes; ++i) {
      const int step = i * kStepBytes % kPanelRowBytes / 16;
      Product::multiply(d, a + step, b + step);
    }
    ptx::wgmma_finish();
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum += d[i];
  keep(sum, sink);
}

template <class Product>
MicroBenchmark wgmma_benchmark(std::string key, const cuda::GpuInfo& gpu) {
  constexpr int kSharedBytes = kOperandBytes + kPanelAlignment;
  const int num_blocks = gpu.num_multiprocessors;
  const double wgmmas_per_round =
      1.0 * num_blocks * kWarpgroups * kPasses * kPanelRowBytes / kStepBytes;
  const auto sink = std::make_shared<cuda::DeviceMemory>(key, sizeof(std::uint32_t));
  return {std::move(key), "FLOP", wgmmas_per_round * kFlopsPerWgmma, [=](int num_rounds) {
            wgmma_kernel<Product><<<num_blocks, kWarpgroups * kWarpgroupThreads, kSharedBytes>>>(
                num_rounds, static_cast<std::uint32_t*>(sink->data()));
            check_launch("wgmma_kernel");
          }};
}

}  // namespace

std::vector<MicroBenchmark> wgmma_benchmarks(const cuda::GpuInfo& gpu) {
  if (gpu.compute_capability != 90) return {};
  return {wgmma_benchmark<WgmmaBf16>("bf16 wgmma", gpu),
          wgmma_benchmark<WgmmaFp16>("fp16 wgmma", gpu)};
}

}  // namespace flashlab::compare
