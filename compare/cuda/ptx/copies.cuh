// Loads with an explicit path: past L1 to shared memory, or from shared memory to registers.
// Source  PTX ISA, "Data movement and conversion instructions: cp.async", "ld"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::compare::ptx {

/// 16 bytes from L2 to shared memory, both 16-byte aligned, without an entry in L1 (.cg).
__device__ __forceinline__ void cp_async_16(std::uint32_t shared_address, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(shared_address), "l"(global)
               : "memory");
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int kGroupsUnderWay>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroupsUnderWay) : "memory");
}

/// Volatile for the compiler and for the assembler, which would otherwise load the same place once
/// for several rounds.
__device__ __forceinline__ uint4 load_shared_16(std::uint32_t shared_address) {
  uint4 value;
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(shared_address));
  return value;
}

}  // namespace flashlab::compare::ptx
