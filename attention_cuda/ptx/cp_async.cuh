// Asynchronous copies from global to shared memory. A thread's copies form groups, closed by
// cp_async_commit; cp_async_wait<n> waits until at most its n newest groups are in flight. Other
// threads see the data after a barrier that follows the wait.
// Source  PTX ISA, "Data movement and conversion instructions: cp.async"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

/// Copies 16 bytes; both addresses are 16-byte aligned. If not is_there, reads nothing and stores
/// 16 zero bytes.
__device__ __forceinline__ void cp_async_16(SharedAddress shared, const void* global,
                                            bool is_there) {
  const int source_bytes = is_there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
               :
               : "r"(shared), "l"(global), "r"(source_bytes)
               : "memory");
}
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, bool is_there) {
  cp_async_16(shared_address(shared), global, is_there);
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int kGroupsUnderWay>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroupsUnderWay) : "memory");
}

}  // namespace flashlab::cuda::ptx
