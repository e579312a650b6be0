// mbarrier: an object of 8 bytes in shared memory that counts arrivals and bytes, phase by phase. A
// phase is complete when all arrivals and all expected bytes have come; then the next one begins.
// Compute capability 9.0.
// Source  PTX ISA, "Parallel synchronization and communication instructions: mbarrier"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline constexpr int kMbarrierBytes = 8;

__device__ __forceinline__ void mbarrier_init(SharedAddress barrier, int num_arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(num_arrivals)
               : "memory");
}

/// Lets asynchronous copies use the barriers that this thread initialised.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Adds to the bytes of the phase, then arrives.
__device__ __forceinline__ void mbarrier_arrive_expect(SharedAddress barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Waits until the phase of this parity is complete. Before the first phase, the one of parity 1
/// counts as complete.
__device__ __forceinline__ void mbarrier_wait(SharedAddress barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "WAIT_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE_%=;\nbra WAIT_%=;\nDONE_%=:\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace flashlab::cuda::ptx
