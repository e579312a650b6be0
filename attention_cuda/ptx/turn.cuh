// Turns of blocks: a counter in global memory says how many have had theirs, so that they add to the
// same place in a fixed order.
//
// A block waits only for blocks of smaller numbers, which the GPU starts first.
// Source  PTX ISA, "ld.acquire", "red.release", "fence.proxy.async"
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda::ptx {

/// Waits until `number` turns have ended. What their threads did is visible, to bulk additions too.
__device__ __forceinline__ void wait_for_turn(const int* turns, int number) {
  int ended;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ended) : "l"(turns) : "memory");
  } while (ended < number);
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

/// Ends this thread's turn. Its bulk additions are complete (wait_stores).
__device__ __forceinline__ void end_turn(int* turns) {
  asm volatile("fence.proxy.async.global;" ::: "memory");
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(turns) : "memory");
}

}  // namespace flashlab::cuda::ptx
