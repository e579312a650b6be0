// Measures how fast tensor cores multiply from registers. The timed loop contains no loads.
//
//   each warp:  A [2] fragments, B [4] fragments, random;  D [2, 4] += A B, num_rounds times
//
// Grid     4 blocks per multiprocessor x 128 threads: 16 warps, 8 independent products each
// Counts   m16n8k16 (bf16, fp16) 4096 FLOPs, m16n8k8 (tf32) 2048 FLOPs
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/kept_result.cuh"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/mma.cuh"

namespace flashlab::compare {
namespace {

constexpr int kTensorCoreThreads = 128, kTensorCoreBlocks = 4;  // per multiprocessor
constexpr int kRows = 2, kColumns = 4;                          // fragments of A and of B

/// Operands have either sign and magnitudes in [0.5, 1).
struct Bf16 {
  static constexpr int kFlops = 2 * 16 * 8 * 16;
  static __device__ std::uint32_t operand(std::uint32_t bits) {
    return (bits & 0x807f807fu) | 0x3f003f00u;
  }
  static __device__ void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                  const std::uint32_t (&b)[2]) {
    ptx::mma_bf16(d, a, b);
  }
};

struct Fp16 {
  static constexpr int kFlops = 2 * 16 * 8 * 16;
  static __device__ std::uint32_t operand(std::uint32_t bits) {
    return (bits & 0x83ff83ffu) | 0x38003800u;
  }
  static __device__ void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                  const std::uint32_t (&b)[2]) {
    ptx::mma_fp16(d, a, b);
  }
};

struct Tf32 {
  static constexpr int kFlops = 2 * 16 * 8 * 8;
  static __device__ std::uint32_t operand(std::uint32_t bits) {
    return (bits & 0x807fe000u) | 0x3f000000u;
  }
  static __device__ void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                  const std::uint32_t (&b)[2]) {
    ptx::mma_tf32(d, a, b);
  }
};

template <class Product, int kFragments, int kRegisters>
__device__ void fill(std::uint32_t (&operands)[kFragments][kRegisters], std::uint32_t seed) {
#pragma unroll
  for (int i = 0; i < kFragments * kRegisters; ++i) {
    operands[i / kRegisters][i % kRegisters] = Product::operand(random_bits(seed + i));
  }
}

template <class Product>
__global__ void __launch_bounds__(kTensorCoreThreads)
    tensor_core_kernel(int num_rounds, std::uint32_t* sink) {
  std::uint32_t a[kRows][4], b[kColumns][2];
  float d[kRows][kColumns][4] = {};
  fill<Product>(a, 64 * thread_number());
  fill<Product>(b, 64 * thread_number() + 32);
#pragma unroll 4
  for (int round = 0; round < num_rounds; ++round) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        Product::multiply(d[row][column], a[row], b[column]);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kRows * kColumns * 4; ++i) sum += d[i / 16][i / 4 % kColumns][i % 4];
  keep(sum, sink);
}

template <class Product>
MicroBenchmark tensor_core_benchmark(std::string key, const cuda::GpuInfo& gpu) {
  const int num_blocks = kTensorCoreBlocks * gpu.num_multiprocessors;
  const double products_per_round = num_blocks * (kTensorCoreThreads / 32.0) * kRows * kColumns;
  const auto sink = std::make_shared<cuda::DeviceMemory>(key, sizeof(std::uint32_t));
  return {std::move(key), "FLOP", products_per_round * Product::kFlops, [=](int num_rounds) {
            tensor_core_kernel<Product><<<num_blocks, kTensorCoreThreads>>>(
                num_rounds, static_cast<std::uint32_t*>(sink->data()));
            check_launch("tensor_core_kernel");
          }};
}

}  // namespace

std::vector<MicroBenchmark> tensor_core_benchmarks(const cuda::GpuInfo& gpu) {
  return {tensor_core_benchmark<Bf16>("bf16", gpu), tensor_core_benchmark<Fp16>("fp16", gpu),
          tensor_core_benchmark<Tf32>("float tf32", gpu)};
}

}  // namespace flashlab::compare
