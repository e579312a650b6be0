// Measures how fast the multiprocessors compute from registers, one kind of operation at a time.
//
//   float        16 values = value x + y: fused multiply-adds, 2 FLOPs each. (The operands of an
//                outer product conflict in register banks: 46 TFLOP/s of 66 on an H200)
//   elementwise  8 values: max(value + x, y): additions and maxima, alternating, each 1
//   exp2         8 values: 2^-value, by the special function unit
//   divisions    4 values: numerator / value, with IEEE rounding
//
// Grid  4 blocks per multiprocessor x 256 threads: 32 warps
#include "compare/cuda/check_cuda.hpp"
#include "compare/cuda/kept_result.cuh"
#include "compare/cuda/micro_benchmarks.hpp"
#include "compare/cuda/ptx/exp2.cuh"

namespace flashlab::compare {
namespace {

constexpr int kArithmeticThreads = 256, kArithmeticBlocks = 4;  // per multiprocessor

template <int kNum>
__device__ float sum_of(const float (&values)[kNum]) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kNum; ++i) sum += values[i];
  return sum;
}

/// Values keep oscillating around y / (1 - x): x is negative and near -1.
struct MultiplyAdd {
  static constexpr int kOperations = 2 * 16, kStepsPerRound = 8;
  float x, y, values[16];

  explicit __device__ MultiplyAdd(std::uint32_t seed) {
    x = -1 + 1e-6f * fabsf(random_float(seed));
    y = random_float(seed + 1);
#pragma unroll
    for (int i = 0; i < 16; ++i) values[i] = random_float(seed + 2 + i);
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < 16; ++i) values[i] = __fmaf_rn(values[i], x, y);
  }
  __device__ float result() const { return sum_of(values); }
};

/// Alternates a rise and a fall with a lower limit for each, so that the values
/// never become constant.
struct AddMax {
  static constexpr int kOperations = 4 * 8, kStepsPerRound = 4;
  float rise, fall, floor[2], values[8];

  explicit __device__ AddMax(std::uint32_t seed) {
    rise = fabsf(random_float(seed));
    fall = -fabsf(random_float(seed + 1));
    floor[0] = random_float(seed + 2);
    floor[1] = random_float(seed + 3);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = random_float(seed + 4 + i);
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = fmaxf(values[i] + rise, floor[0]);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = fmaxf(values[i] + fall, floor[1]);
  }
  __device__ float result() const { return sum_of(values); }
};

struct Exp2 {
  static constexpr int kOperations = 8, kStepsPerRound = 16;
  float values[8];

  explicit __device__ Exp2(std::uint32_t seed) {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = random_float(seed + i);
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] = ptx::exp2_approximate(-values[i]);
  }
  __device__ float result() const { return sum_of(values); }
};

/// Alternates a value and numerator / value: neither overflows, and no division takes the slow path
/// for subnormal numbers.
struct Division {
  static constexpr int kOperations = 4, kStepsPerRound = 4;
  float numerators[4], values[4];

  explicit __device__ Division(std::uint32_t seed) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      numerators[i] = random_float(seed + i);
      values[i] = random_float(seed + 4 + i);
    }
  }
  __device__ void step() {
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = __fdiv_rn(numerators[i], values[i]);
  }
  __device__ float result() const { return sum_of(values); }
};

template <class Operation>
__global__ void __launch_bounds__(kArithmeticThreads)
    arithmetic_kernel(int num_rounds, std::uint32_t* sink) {
  Operation operation(32 * thread_number());
#pragma unroll 1
  for (int round = 0; round < num_rounds; ++round) {
#pragma unroll
    for (int step = 0; step < Operation::kStepsPerRound; ++step) operation.step();
  }
  keep(operation.result(), sink);
}

template <class Operation>
MicroBenchmark arithmetic_benchmark(std::string key, std::string unit, const cuda::GpuInfo& gpu) {
  const int num_blocks = kArithmeticBlocks * gpu.num_multiprocessors;
  const double operations_per_round =
      1.0 * num_blocks * kArithmeticThreads * Operation::kStepsPerRound * Operation::kOperations;
  const auto sink = std::make_shared<cuda::DeviceMemory>(key, sizeof(std::uint32_t));
  return {std::move(key), std::move(unit), operations_per_round, [=](int num_rounds) {
            arithmetic_kernel<Operation><<<num_blocks, kArithmeticThreads>>>(
                num_rounds, static_cast<std::uint32_t*>(sink->data()));
            check_launch("arithmetic_kernel");
          }};
}

}  // namespace

std::vector<MicroBenchmark> arithmetic_benchmarks(const cuda::GpuInfo& gpu) {
  return {arithmetic_benchmark<MultiplyAdd>("float", "FLOP", gpu),
          arithmetic_benchmark<AddMax>("elementwise", "operation", gpu),
          arithmetic_benchmark<Exp2>("exp2", "operation", gpu),
          arithmetic_benchmark<Division>("divisions", "operation", gpu)};
}

}  // namespace flashlab::compare
