// The emulated GPU: what kernels may rely on, and which of their errors it reports.
#include "attention_cuda/emulation/emulation.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "attention/tensor.hpp"
#include "attention_cuda/ptx/dependent_launch.cuh"
#include "attention_cuda/ptx/ldmatrix.cuh"
#include "attention_cuda/ptx/mma.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/catch_shim.hpp"

namespace emulation = flashlab::cuda::emulation;
namespace ptx = flashlab::cuda::ptx;
using flashlab::BFloat16;
using flashlab::test::contains, flashlab::test::kFullMask;
using flashlab::test::error_of;
using flashlab::test::launch, flashlab::test::shared_as;

namespace {

/// Some threads of an overlapping launch may forget to wait.
__global__ void overlapping_kernel(unsigned num_waiting) {
  if (threadIdx.x < num_waiting) ptx::wait_for_previous_kernels();
}

// Threads and blocks

__global__ void write_place_kernel(int* to) {
  const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
  const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
  to[block * blockDim.x * blockDim.y + thread] += static_cast<int>(100 * block + thread);
}

__global__ void reverse_kernel(int* values, bool has_barrier) {
  int* sValues = shared_as<int>();
  sValues[threadIdx.x] = values[threadIdx.x];
  if (has_barrier) __syncthreads();
  values[threadIdx.x] = sValues[blockDim.x - 1 - threadIdx.x];
}

/// How many of 20 seeds let the kernel reverse 96 values.
int seeds_that_reverse(bool has_barrier) {
  int good = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    emulation::set_schedule_seed(seed);
    std::vector<int> values(96), expected(96);
    std::iota(values.begin(), values.end(), 0);
    expected.assign(values.rbegin(), values.rend());
    REQUIRE(launch(1, 96, 96 * sizeof(int), reverse_kernel, values.data(), has_barrier) ==
            cudaSuccess);
    good += values == expected;
  }
  return good;
}

__global__ void leave_early_kernel(int* to) {
  if (threadIdx.x % 3 == 0) return;
  __syncthreads();
  atomicAdd(to, 1);
  __syncthreads();
}

__global__ void count_kernel(int* count, float* sum) {
  atomicAdd(count, 1);
  atomicAdd(sum, 0.5f);
}

// Warps

__global__ void shuffle_kernel(int* to) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int* own = to + 8 * threadIdx.x;
  own[0] = __shfl_sync(kFullMask, 10 * lane, 5);
  own[1] = __shfl_xor_sync(kFullMask, 10 * lane, 3);
  own[2] = __shfl_down_sync(kFullMask, 10 * lane, 4);
  own[3] = __shfl_sync(kFullMask, 10 * lane, 2, 8);
  own[4] = static_cast<int>(__ballot_sync(kFullMask, lane % 2));
  own[5] = __any_sync(kFullMask, lane == 7);
  own[6] = __all_sync(kFullMask, lane == 7);
  own[7] = __float_as_int(__shfl_xor_sync(kFullMask, static_cast<float>(lane), 16));
}

__global__ void neighbours_kernel(int* to, bool has_barrier) {
  int* sValues = shared_as<int>();
  sValues[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (has_barrier) __syncwarp();
  to[threadIdx.x] = sValues[threadIdx.x ^ 1];
}

// Errors

__global__ void skip_barrier_kernel() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncwarp();
    __shfl_sync(kFullMask, 1, 0);
    if (threadIdx.x == 40) __syncthreads();
    __shfl_sync(kFullMask, 1, 0);
  }
}

__global__ void differ_kernel() {
  if (threadIdx.x % 2 == 0) {
    __shfl_sync(kFullMask, 1, 0);
  } else {
    __syncwarp();
  }
}

__global__ void write_shared_kernel(int at) { ptx::shared_memory()[at] = 1; }

__global__ void ldmatrix_at_kernel(int offset_of_lane_7) {
  std::uint32_t to[4];
  ptx::ldmatrix_x4(to, ptx::shared_memory() + (threadIdx.x == 7 ? offset_of_lane_7 : 0));
}

__global__ void mma_without_lanes_kernel() {
  float d[4] = {};
  const std::uint32_t a[4] = {}, b[2] = {};
  ptx::mma_m16n8k16(BFloat16{}, d, a, b);
}

}  // namespace

TEST_CASE("every thread of every block runs once and knows its place", "[emulation]") {
  std::vector<int> places(6 * 40, 0);
  REQUIRE(launch(dim3(3, 2), dim3(20, 2), 0, write_place_kernel, places.data()) == cudaSuccess);
  for (int i = 0; i < 240; ++i)
    CHECK(places[static_cast<std::size_t>(i)] == 100 * (i / 40) + i % 40);
}

TEST_CASE("a barrier makes what was written before visible, and a missing one shows",
          "[emulation]") {
  CHECK(seeds_that_reverse(true) == 20);
  CHECK(seeds_that_reverse(false) == 0);
}

TEST_CASE("threads that have ended count as arrived at a barrier", "[emulation]") {
  int count = 0;
  REQUIRE(launch(1, 96, 0, leave_early_kernel, &count) == cudaSuccess);
  CHECK(count == 64);
}

TEST_CASE("atomics of all blocks add up, on several processor threads too", "[emulation]") {
  for (const int num_threads : {1, 2}) {
    emulation::set_num_threads(num_threads);
    int count = 0;
    float sum = 0;
    CHECK(launch(100, 70, 0, count_kernel, &count, &sum) == cudaSuccess);
    CHECK(count == 7000);
    CHECK(sum == 3500);
  }
  emulation::set_num_threads(1);
}

TEST_CASE("lanes read one another's values", "[emulation]") {
  std::vector<int> values(64 * 8);
  REQUIRE(launch(1, 64, 0, shuffle_kernel, values.data()) == cudaSuccess);
  for (int thread = 0; thread < 64; ++thread) {
    const int* own = values.data() + 8 * thread;
    const int lane = thread % 32;
    CHECK(own[0] == 50);
    CHECK(own[1] == 10 * (lane ^ 3));
    CHECK(own[2] == 10 * (lane < 28 ? lane + 4 : lane));
    CHECK(own[3] == 10 * (lane / 8 * 8 + 2));
    CHECK(static_cast<unsigned>(own[4]) == 0xAAAAAAAAu);
    CHECK(own[5] == 1);
    CHECK(own[6] == 0);
    CHECK(__int_as_float(own[7]) == static_cast<float>(lane ^ 16));
  }
}

TEST_CASE("a block's last warp may have fewer lanes", "[emulation]") {
  std::vector<int> values(40 * 8);
  REQUIRE(launch(1, 40, 0, shuffle_kernel, values.data()) == cudaSuccess);
  const int* own = values.data() + 8 * 33;
  CHECK(own[0] == 50);
  CHECK(own[1] == 20);
  CHECK(own[2] == 50);
  CHECK(static_cast<unsigned>(own[4]) == 0xAAu);
}

TEST_CASE("a missing barrier of a warp shows with some seed", "[emulation]") {
  int good_with = 0, good_without = 0;
  std::vector<int> expected(64);
  for (int i = 0; i < 64; ++i) expected[static_cast<std::size_t>(i)] = i ^ 1;
  for (unsigned seed = 0; seed < 20; ++seed) {
    emulation::set_schedule_seed(seed);
    for (const bool has_barrier : {false, true}) {
      std::vector<int> values(64);
      REQUIRE(launch(1, 64, 256, neighbours_kernel, values.data(), has_barrier) == cudaSuccess);
      (has_barrier ? good_with : good_without) += values == expected;
    }
  }
  CHECK(good_with == 20);
  CHECK(good_without < 20);
}

TEST_CASE("threads that wait for ever are reported with what they wait for", "[emulation]") {
  REQUIRE_THROWS_WITH(launch(1, 64, 0, skip_barrier_kernel),
                      contains("no thread can go on: 33 of 64 wait at __syncthreads") &&
                          contains("of warp 1, 31 lanes of 32 are at __shfl_sync") &&
                          contains("of block (0, 0, 0)"));
  REQUIRE_THROWS_WITH(launch(1, 32, 0, differ_kernel), contains("lanes of one warp differ"));
  int count = 0;
  float sum = 0;
  CHECK(launch(2, 64, 0, count_kernel, &count, &sum) == cudaSuccess);  // all is well afterwards
  CHECK(count == 128);
}

TEST_CASE("a launch that a GPU refuses is refused", "[emulation]") {
  int to[2] = {};
  CHECK(launch(0, 32, 0, count_kernel, to, static_cast<float*>(nullptr)) ==
        cudaErrorInvalidConfiguration);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(launch(1, 1025, 0, write_place_kernel, to) == cudaErrorInvalidConfiguration);
  CHECK(launch(dim3(1, 65536), 1, 0, write_place_kernel, to) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetErrorName(cudaGetLastError()) == std::string("cudaErrorInvalidConfiguration"));
}

TEST_CASE("a launch that may start early, and whose threads do not all wait, is reported",
          "[emulation]") {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, overlapping_kernel, 32u) == cudaSuccess);
  CHECK_THAT(error_of([&] { cudaLaunchKernelEx(&config, overlapping_kernel, 31u); }),
             contains("griddepcontrol.wait was executed by 62 of 64 threads"));
  attribute.val.programmaticStreamSerializationAllowed = 0;
  CHECK(cudaLaunchKernelEx(&config, overlapping_kernel, 0u) == cudaSuccess);
  // What waits without need is counted nowhere: AddressSanitizer sees a count of a launch that has ended.
  CHECK(cudaLaunchKernelEx(&config, overlapping_kernel, 32u) == cudaSuccess);
}

TEST_CASE("shared memory beyond 48 KiB is had by asking first, 227 KiB at most", "[emulation]") {
  constexpr std::size_t kDefault = 48 << 10;
  CHECK(launch(1, 1, kDefault, write_shared_kernel, 0) == cudaSuccess);
  CHECK(launch(1, 1, kDefault + 1, write_shared_kernel, 0) == cudaErrorInvalidValue);
  constexpr auto kAttribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(write_shared_kernel, kAttribute, 227 * 1024 + 1) ==
        cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(write_shared_kernel, kAttribute, 227 * 1024) == cudaSuccess);
  CHECK(launch(1, 1, 227 * 1024, write_shared_kernel, 227 * 1024 - 1) == cudaSuccess);
  CHECK(cudaFuncSetAttribute(write_shared_kernel, kAttribute, kDefault) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("accesses that a GPU forbids are reported", "[emulation]") {
  CHECK_THROWS_WITH(launch(1, 1, 64, write_shared_kernel, 70), contains("past the end of its 64"));
  CHECK_THROWS_WITH(launch(1, 32, 64, ldmatrix_at_kernel, 8),
                    contains("at byte 8 of shared memory, not a multiple of 16 (thread (7, 0, 0)"));
  CHECK_THROWS_WITH(launch(1, 32, 64, ldmatrix_at_kernel, 64), contains("outside shared memory"));
  CHECK_THROWS_WITH(launch(1, 31, 0, mma_without_lanes_kernel), contains("without all 32 lanes"));
  CHECK_THROWS_WITH(__syncthreads(), contains("outside a kernel"));
}

TEST_CASE("new memory holds NaN, and zero bytes are no memory", "[emulation]") {
  float* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 3 * sizeof(float)) == cudaSuccess);
  CHECK((std::isnan(memory[0]) && std::isnan(memory[2])));
  CHECK(cudaFree(memory) == cudaSuccess);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  CHECK(cudaMalloc(&memory, 0) == cudaSuccess);
  CHECK(memory == nullptr);
  CHECK(cudaMalloc(&memory, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("the GPU's memory is told from the host's", "[emulation]") {
  const auto type_of = [](const void* memory) {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
    return attributes.type;
  };
  char* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 100) == cudaSuccess);
  CHECK(type_of(memory) == cudaMemoryTypeDevice);
  CHECK(type_of(memory + 99) == cudaMemoryTypeDevice);
  CHECK(type_of(memory + 100) == cudaMemoryTypeUnregistered);
  CHECK(type_of(&memory) == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(memory) == cudaSuccess);
}
