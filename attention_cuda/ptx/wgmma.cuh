// wgmma: D += A B for 64 rows and N columns, 16 deep, by the 128 threads of a warpgroup. It goes on
// while the threads do. Compute capability 9.0.
//
// Registers  Thread t is lane l = t % 32 of warp w = t / 32. d[4 i] and d[4 i + 1] are row
//            16 w + l / 4, columns 8 i + 2 (l % 4) and the next; d[4 i + 2] and d[4 i + 3] are the
//            row 8 below. a[0] and a[1] hold the same rows of A, columns 2 (l % 4) and the next;
//            a[2] and a[3] hold columns 8 further. So D, rounded to 16 bits, has the layout of A.
// Shared     Panels of 64 columns, 128 bytes per row, in the 128-byte swizzle; 8 rows take 1024
//            bytes. K-major: rows of A or columns of B are rows of the panel. M-major, N-major: the
//            16 columns of A, the 16 rows of B are rows of the panel.
// Source     PTX ISA, "Asynchronous warpgroup level matrix instructions"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "attention/tensor.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

/// Orders accesses to registers before the wgmma that use them next.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// The wgmma since the last call form a group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most this many groups are in flight.
template <int kGroupsInFlight>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroupsInFlight) : "memory");
}

/// Describes a matrix that begins in a panel at a multiple of 1024 bytes. `panel_bytes`: distance to
/// the panel of the next 64 columns, for an N-major B of more than 64 columns.
__device__ __forceinline__ std::uint64_t matrix_descriptor(SharedAddress panel,
                                                           std::uint32_t panel_bytes = 16) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62, kRowGroupBytes = 1024;
  return static_cast<std::uint64_t>((panel & 0x3FFFF) >> 4) |
         static_cast<std::uint64_t>(panel_bytes >> 4) << 16 | kRowGroupBytes >> 4 << 32 |
         kSwizzle128;
}

/// What to add to a descriptor for a matrix that begins this many bytes later.
__device__ constexpr std::uint64_t descriptor_step(std::uint32_t bytes) { return bytes >> 4; }

// The text of operands 0 to N / 2 - 1, and the operands themselves.
// clang-format off
#define FLASHLAB_TEXT_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FLASHLAB_TEXT_1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define FLASHLAB_TEXT_2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define FLASHLAB_TEXT_3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define FLASHLAB_TEXT_4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define FLASHLAB_TEXT_5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define FLASHLAB_TEXT_6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define FLASHLAB_TEXT_7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define FLASHLAB_TEXT_8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define FLASHLAB_TEXT_9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define FLASHLAB_TEXT_10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define FLASHLAB_TEXT_11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define FLASHLAB_TEXT_12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define FLASHLAB_TEXT_13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define FLASHLAB_TEXT_14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define FLASHLAB_TEXT_15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define FLASHLAB_D(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                      "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define FLASHLAB_TEXTS_16 FLASHLAB_TEXT_0
#define FLASHLAB_DS_16 FLASHLAB_D(0)
#define FLASHLAB_TEXTS_32 FLASHLAB_TEXTS_16 ", " FLASHLAB_TEXT_1
#define FLASHLAB_DS_32 FLASHLAB_DS_16, FLASHLAB_D(8)
#define FLASHLAB_TEXTS_48 FLASHLAB_TEXTS_32 ", " FLASHLAB_TEXT_2
#define FLASHLAB_DS_48 FLASHLAB_DS_32, FLASHLAB_D(16)
#define FLASHLAB_TEXTS_64 FLASHLAB_TEXTS_48 ", " FLASHLAB_TEXT_3
#define FLASHLAB_DS_64 FLASHLAB_DS_48, FLASHLAB_D(24)
#define FLASHLAB_TEXTS_80 FLASHLAB_TEXTS_64 ", " FLASHLAB_TEXT_4
#define FLASHLAB_DS_80 FLASHLAB_DS_64, FLASHLAB_D(32)
#define FLASHLAB_TEXTS_96 FLASHLAB_TEXTS_80 ", " FLASHLAB_TEXT_5
#define FLASHLAB_DS_96 FLASHLAB_DS_80, FLASHLAB_D(40)
#define FLASHLAB_TEXTS_112 FLASHLAB_TEXTS_96 ", " FLASHLAB_TEXT_6
#define FLASHLAB_DS_112 FLASHLAB_DS_96, FLASHLAB_D(48)
#define FLASHLAB_TEXTS_128 FLASHLAB_TEXTS_112 ", " FLASHLAB_TEXT_7
#define FLASHLAB_DS_128 FLASHLAB_DS_112, FLASHLAB_D(56)
#define FLASHLAB_TEXTS_144 FLASHLAB_TEXTS_128 ", " FLASHLAB_TEXT_8
#define FLASHLAB_DS_144 FLASHLAB_DS_128, FLASHLAB_D(64)
#define FLASHLAB_TEXTS_160 FLASHLAB_TEXTS_144 ", " FLASHLAB_TEXT_9
#define FLASHLAB_DS_160 FLASHLAB_DS_144, FLASHLAB_D(72)
#define FLASHLAB_TEXTS_176 FLASHLAB_TEXTS_160 ", " FLASHLAB_TEXT_10
#define FLASHLAB_DS_176 FLASHLAB_DS_160, FLASHLAB_D(80)
#define FLASHLAB_TEXTS_192 FLASHLAB_TEXTS_176 ", " FLASHLAB_TEXT_11
#define FLASHLAB_DS_192 FLASHLAB_DS_176, FLASHLAB_D(88)
#define FLASHLAB_TEXTS_208 FLASHLAB_TEXTS_192 ", " FLASHLAB_TEXT_12
#define FLASHLAB_DS_208 FLASHLAB_DS_192, FLASHLAB_D(96)
#define FLASHLAB_TEXTS_224 FLASHLAB_TEXTS_208 ", " FLASHLAB_TEXT_13
#define FLASHLAB_DS_224 FLASHLAB_DS_208, FLASHLAB_D(104)
#define FLASHLAB_TEXTS_240 FLASHLAB_TEXTS_224 ", " FLASHLAB_TEXT_14
#define FLASHLAB_DS_240 FLASHLAB_DS_224, FLASHLAB_D(112)
#define FLASHLAB_TEXTS_256 FLASHLAB_TEXTS_240 ", " FLASHLAB_TEXT_15
#define FLASHLAB_DS_256 FLASHLAB_DS_240, FLASHLAB_D(120)

// N, and the numbers of the six operands after the registers of D. The fourth one of the first form is
// whether A and B are transposed.
#define FLASHLAB_WGMMA(N, n0, n1, n2, n3, n4, n5)                                                 \
  template <class Element, bool kIsTransposed = false>                                            \
  __device__ __forceinline__ void wgmma(float (&d)[N / 2], std::uint64_t a, std::uint64_t b,      \
                                        bool accumulates) {                                       \
    if constexpr (std::is_same_v<Element, BFloat16>) {                                            \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" n2 ", 0;\n"                               \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" FLASHLAB_TEXTS_##N \
                   "}, %" n0 ", %" n1 ", p, 1, 1, %" n3 ", %" n3 ";\n}\n"                         \
                   : FLASHLAB_DS_##N                                                              \
                   : "l"(a), "l"(b), "r"(static_cast<int>(accumulates)),                          \
                     "n"(static_cast<int>(kIsTransposed)));                                       \
    } else {                                                                                      \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" n2 ", 0;\n"                               \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" FLASHLAB_TEXTS_##N   \
                   "}, %" n0 ", %" n1 ", p, 1, 1, %" n3 ", %" n3 ";\n}\n"                         \
                   : FLASHLAB_DS_##N                                                              \
                   : "l"(a), "l"(b), "r"(static_cast<int>(accumulates)),                          \
                     "n"(static_cast<int>(kIsTransposed)));                                       \
    }                                                                                             \
  }                                                                                               \
  template <class Element>                                                                        \
  __device__ __forceinline__ void wgmma(float (&d)[N / 2], const std::uint32_t (&a)[4],           \
                                        std::uint64_t b, bool accumulates) {                      \
    if constexpr (std::is_same_v<Element, BFloat16>) {                                            \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" n5 ", 0;\n"                               \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" FLASHLAB_TEXTS_##N \
                   "}, {%" n0 ", %" n1 ", %" n2 ", %" n3 "}, %" n4 ", p, 1, 1, 1;\n}\n"           \
                   : FLASHLAB_DS_##N                                                              \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                          \
                     "r"(static_cast<int>(accumulates)));                                         \
    } else {                                                                                      \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" n5 ", 0;\n"                               \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" FLASHLAB_TEXTS_##N   \
                   "}, {%" n0 ", %" n1 ", %" n2 ", %" n3 "}, %" n4 ", p, 1, 1, 1;\n}\n"           \
                   : FLASHLAB_DS_##N                                                              \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                          \
                     "r"(static_cast<int>(accumulates)));                                         \
    }                                                                                             \
  }

// wgmma(d, a, b, …): A in shared memory; A and B K-major, or with kIsTransposed M-major and N-major.
// wgmma(d, {a0…}, b, …): A in registers, B N-major.
FLASHLAB_WGMMA(16, "8", "9", "10", "11", "12", "13")
FLASHLAB_WGMMA(32, "16", "17", "18", "19", "20", "21")
FLASHLAB_WGMMA(48, "24", "25", "26", "27", "28", "29")
FLASHLAB_WGMMA(64, "32", "33", "34", "35", "36", "37")
FLASHLAB_WGMMA(80, "40", "41", "42", "43", "44", "45")
FLASHLAB_WGMMA(96, "48", "49", "50", "51", "52", "53")
FLASHLAB_WGMMA(112, "56", "57", "58", "59", "60", "61")
FLASHLAB_WGMMA(128, "64", "65", "66", "67", "68", "69")
FLASHLAB_WGMMA(144, "72", "73", "74", "75", "76", "77")
FLASHLAB_WGMMA(160, "80", "81", "82", "83", "84", "85")
FLASHLAB_WGMMA(176, "88", "89", "90", "91", "92", "93")
FLASHLAB_WGMMA(192, "96", "97", "98", "99", "100", "101")
FLASHLAB_WGMMA(208, "104", "105", "106", "107", "108", "109")
FLASHLAB_WGMMA(224, "112", "113", "114", "115", "116", "117")
FLASHLAB_WGMMA(240, "120", "121", "122", "123", "124", "125")
FLASHLAB_WGMMA(256, "128", "129", "130", "131", "132", "133")

#undef FLASHLAB_WGMMA
#undef FLASHLAB_TEXTS_16
#undef FLASHLAB_DS_16
#undef FLASHLAB_TEXTS_32
#undef FLASHLAB_DS_32
#undef FLASHLAB_TEXTS_48
#undef FLASHLAB_DS_48
#undef FLASHLAB_TEXTS_64
#undef FLASHLAB_DS_64
#undef FLASHLAB_TEXTS_80
#undef FLASHLAB_DS_80
#undef FLASHLAB_TEXTS_96
#undef FLASHLAB_DS_96
#undef FLASHLAB_TEXTS_112
#undef FLASHLAB_DS_112
#undef FLASHLAB_TEXTS_128
#undef FLASHLAB_DS_128
#undef FLASHLAB_TEXTS_144
#undef FLASHLAB_DS_144
#undef FLASHLAB_TEXTS_160
#undef FLASHLAB_DS_160
#undef FLASHLAB_TEXTS_176
#undef FLASHLAB_DS_176
#undef FLASHLAB_TEXTS_192
#undef FLASHLAB_DS_192
#undef FLASHLAB_TEXTS_208
#undef FLASHLAB_DS_208
#undef FLASHLAB_TEXTS_224
#undef FLASHLAB_DS_224
#undef FLASHLAB_TEXTS_240
#undef FLASHLAB_DS_240
#undef FLASHLAB_TEXTS_256
#undef FLASHLAB_DS_256
#undef FLASHLAB_TEXT_0
#undef FLASHLAB_TEXT_1
#undef FLASHLAB_TEXT_2
#undef FLASHLAB_TEXT_3
#undef FLASHLAB_TEXT_4
#undef FLASHLAB_TEXT_5
#undef FLASHLAB_TEXT_6
#undef FLASHLAB_TEXT_7
#undef FLASHLAB_TEXT_8
#undef FLASHLAB_TEXT_9
#undef FLASHLAB_TEXT_10
#undef FLASHLAB_TEXT_11
#undef FLASHLAB_TEXT_12
#undef FLASHLAB_TEXT_13
#undef FLASHLAB_TEXT_14
#undef FLASHLAB_TEXT_15
#undef FLASHLAB_D
// clang-format on

}  // namespace flashlab::cuda::ptx
