// What four warps share: their registers, and barriers for some of a block's threads. Compute
// capability 9.0.
// Source  PTX ISA, "Miscellaneous instructions: setmaxnreg"; "bar, barrier"; "elect.sync"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::cuda::ptx {

/// Each warp of the warpgroup gives registers back, down to this many per thread.
template <int kRegisters>
__device__ __forceinline__ void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Waits until the block has enough free registers for this many per thread.
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Returns `value`, which all lanes of a whole warp share, and tells the compiler so. What follows
/// from it takes uniform registers, which descriptors need.
__device__ __forceinline__ int same_in_warp(int value) {
  int result;
  asm("redux.sync.max.s32 %0, %1, 0xFFFFFFFF;" : "=r"(result) : "r"(value));
  return result;
}

/// Waits at barrier 1 to 15 until this many threads have come, those that only arrive included.
__device__ __forceinline__ void barrier_sync(int id, int num_threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(num_threads) : "memory");
}
__device__ __forceinline__ void barrier_arrive(int id, int num_threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(num_threads) : "memory");
}

/// True in one lane of a warp whose lanes are all here.
__device__ __forceinline__ bool elect_one() {
  std::uint32_t is_elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.u32 %0, 1, 0, p;\n}\n"
               : "=r"(is_elected));
  return is_elected != 0;
}

}  // namespace flashlab::cuda::ptx
