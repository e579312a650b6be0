// wgmma: D [64, 128] += A [64, 16] B [16, 128] by the 128 threads of a warpgroup, both operands in
// shared memory in panels of 64 columns and 128-byte swizzle. Compute capability 9.0.
// Source  PTX ISA, "Asynchronous warpgroup level matrix instructions"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::compare::ptx {

/// Makes what threads wrote to shared memory visible to wgmma.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Orders accesses to the registers of D before the wgmma that use them next.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Waits until all wgmma so far have ended.
__device__ __forceinline__ void wgmma_finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// Describes a panel that begins at a multiple of 1024 bytes; 8 rows take 1024 bytes. Add bytes / 16
/// for a matrix that begins later in its rows.
__device__ __forceinline__ std::uint64_t panel_descriptor(std::uint32_t shared_address) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62, kRowGroupBytes = 1024;
  return static_cast<std::uint64_t>((shared_address & 0x3FFFF) >> 4) | std::uint64_t{1} << 16 |
         kRowGroupBytes >> 4 << 32 | kSwizzle128;
}

// clang-format off
#define FLASHLAB_D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                       "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define FLASHLAB_MULTIPLY(name, type)                                                        \
  __device__ __forceinline__ void name(float (&d)[64], std::uint64_t a, std::uint64_t b) {   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {"           \
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "    \
                 "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "    \
                 "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "    \
                 "%58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"                   \
                 : FLASHLAB_D8(0), FLASHLAB_D8(8), FLASHLAB_D8(16), FLASHLAB_D8(24),         \
                   FLASHLAB_D8(32), FLASHLAB_D8(40), FLASHLAB_D8(48), FLASHLAB_D8(56)        \
                 : "l"(a), "l"(b));                                                          \
  }
FLASHLAB_MULTIPLY(wgmma_bf16, "bf16")
FLASHLAB_MULTIPLY(wgmma_fp16, "f16")
#undef FLASHLAB_MULTIPLY
#undef FLASHLAB_D8
// clang-format on

}  // namespace flashlab::compare::ptx
