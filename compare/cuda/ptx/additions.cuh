// Additions to global memory, which L2 executes.
// Source  PTX ISA, "Parallel synchronization and communication instructions: red", "Data movement and
//         conversion instructions: cp.reduce.async.bulk"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::compare::ptx {

/// `global` is 16-byte aligned. One instruction from compute capability 9.0 on, four before.
__device__ __forceinline__ void add_4(float* global, float4 values) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(global), "f"(values.x), "f"(values.y), "f"(values.z), "f"(values.w)
               : "memory");
#else
  atomicAdd(global, values.x);
  atomicAdd(global + 1, values.y);
  atomicAdd(global + 2, values.z);
  atomicAdd(global + 3, values.w);
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// What threads stored in shared memory is visible to bulk additions that start after it.
__device__ __forceinline__ void fence_shared_for_bulk() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Adds floats in shared memory to as many in global memory. Both begin at multiples of 16 bytes, and
/// `bytes` is one.
__device__ __forceinline__ void add_bulk(float* to, std::uint32_t from, std::uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(from), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void commit_bulk() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but this many groups of this thread have read shared memory.
template <int kGroupsUnderWay>
__device__ __forceinline__ void wait_bulk() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroupsUnderWay) : "memory");
}
#endif

}  // namespace flashlab::compare::ptx
