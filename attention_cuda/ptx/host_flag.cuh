// A number in memory of the host, which may change while a kernel runs.
//
// Source  PTX ISA, "ld.relaxed.sys"
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda::ptx {

/// Returns its current value, past all caches.
__device__ __forceinline__ int load_from_host(const int* flag) {
  int value;
  asm volatile("ld.relaxed.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

}  // namespace flashlab::cuda::ptx
