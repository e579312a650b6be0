// The emulated registers and barriers of warpgroups, each rule with a kernel that breaks it.
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/catch_shim.hpp"

namespace ptx = flashlab::cuda::ptx;
using flashlab::test::contains, flashlab::test::error_of, flashlab::test::launch;

namespace {

constexpr int kGroupThreads = 128;

enum class RegisterFault { kNone, kTooMany, kOnlyOneWarp, kWrongDirection };

/// Two warpgroups: the first gives registers back, the second takes them.
__global__ void register_kernel(RegisterFault fault) {
  if (threadIdx.x >= kGroupThreads) {
    fault == RegisterFault::kTooMany ? ptx::take_registers<256>() : ptx::take_registers<240>();
  } else if (fault == RegisterFault::kWrongDirection) {
    ptx::take_registers<24>();
  } else if (fault == RegisterFault::kOnlyOneWarp && threadIdx.x < 32) {
    ptx::release_registers<32>();
  } else {
    ptx::release_registers<40>();
  }
}

/// The same in a launch that leaves registers for another block.
template <int kTaken>
__global__ void shared_registers_kernel(int at_launch) {
  if (threadIdx.x == 0) flashlab::cuda::emulation::async_block().registers().limit(at_launch);
  __syncthreads();
  if (threadIdx.x < kGroupThreads) {
    ptx::release_registers<24>();
  } else {
    ptx::take_registers<kTaken>();
  }
}

/// Two warps meet at barrier 3, of which one expects the other number of threads.
__global__ void barrier_kernel(int expected) {
  if (threadIdx.x < 32) {
    ptx::barrier_arrive(3, 64);
  } else {
    ptx::barrier_sync(3, expected);
  }
}

__global__ void same_kernel(bool differ) {
  ptx::same_in_warp(static_cast<int>(threadIdx.x) / (differ ? 16 : 32));
}

}  // namespace

TEST_CASE("setmaxnreg moves registers between warpgroups", "[async]") {
  const auto run = [](int num_threads, RegisterFault fault) {
    return error_of([&] { launch(1, num_threads, 0, register_kernel, fault); });
  };
  constexpr int kThree = 3 * kGroupThreads;  // 168 registers for each thread
  CHECK(run(kThree, RegisterFault::kOnlyOneWarp) != "no error");
  CHECK_THAT(run(2 * kGroupThreads, RegisterFault::kNone), contains("setmaxnreg.inc 240"));
  CHECK_THAT(run(kThree, RegisterFault::kOnlyOneWarp), contains("of the same warpgroup"));
  CHECK_THAT(run(kThree, RegisterFault::kWrongDirection), contains("in a warp that has 168"));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    flashlab::cuda::emulation::set_schedule_seed(seed);
    CHECK_THAT(run(kThree, RegisterFault::kTooMany), contains("are free"));
  }
  flashlab::cuda::emulation::set_schedule_seed(1);
}

TEST_CASE("a launch for several blocks has fewer registers for setmaxnreg to move", "[async]") {
  const auto run = [](auto kernel, int at_launch) {
    return error_of([&] { launch(1, 2 * kGroupThreads, 0, kernel, at_launch); });
  };
  CHECK(run(shared_registers_kernel<232>, 128) == "no error");
  CHECK_THAT(run(shared_registers_kernel<240>, 128), contains("are free"));
  CHECK_THAT(run(shared_registers_kernel<240>, 264), contains("264 registers per thread"));
}

TEST_CASE("a named barrier counts the threads that it was told", "[async]") {
  CHECK(error_of([] { launch(1, 64, 0, barrier_kernel, 64); }) == "no error");
  CHECK_THAT(error_of([] { launch(1, 64, 0, barrier_kernel, 96); }),
             contains("threads, and one expects"));
}

TEST_CASE("same_in_warp refuses lanes that differ", "[async]") {
  CHECK(error_of([] { launch(1, 64, 0, same_kernel, false); }) == "no error");
  CHECK_THAT(error_of([] { launch(1, 64, 0, same_kernel, true); }), contains("lanes have"));
}
