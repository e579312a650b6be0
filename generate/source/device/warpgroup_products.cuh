// Products of fragments by the four warps of a warpgroup (level 2, compute capability 9.0): wgmma reads
// one or both factors from shared memory itself, 64 rows, all columns and 16 terms at a time.
//
// Registers  The sums of 64 x N numbers are in their threads as in a Fragment of which each warp has 16
//            rows; so is a left factor in registers, rounded.
// Shared     Panels of 64 columns in the 128-byte swizzle (SwizzledTile). A factor may lie there either
//            way: with its terms along the rows of the panel or across them.
//
// Source  PTX ISA, "Asynchronous warpgroup level matrix instructions"
#ifndef FLASHLAB_WARPGROUP_PRODUCTS
#define FLASHLAB_WARPGROUP_PRODUCTS

namespace toy {

using MatrixDescriptor = unsigned long long;

#ifdef __CUDACC__
/// Orders accesses to registers before the products that use them next.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_wait_for_all() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
/// Computed before what follows, or used after what is before: wgmma's registers belong to it meanwhile.
__device__ inline void keep_in_place(float& x) { asm volatile("" : "+f"(x)::"memory"); }
__device__ inline void keep_in_place(unsigned& x) { asm volatile("" : "+r"(x)::"memory"); }
/// Describes a matrix in a panel. `panel_bytes`: from a panel to that of the next 64 columns.
__device__ inline MatrixDescriptor matrix_descriptor(SharedAddress panel, unsigned panel_bytes) {
  constexpr MatrixDescriptor kSwizzle128 = 1ull << 62, kEightRows = 1024 / 16;
  return (panel & 0x3ffff) >> 4 | static_cast<MatrixDescriptor>(panel_bytes >> 4) << 16 |
         kEightRows << 32 | kSwizzle128;
}
/// The number of this thread's warpgroup, which the compiler then knows to be the same in a warp.
__device__ inline int warpgroup_of_block() {
  int result;
  asm("redux.sync.max.s32 %0, %1, 0xFFFFFFFF;"
      : "=r"(result)
      : "r"(static_cast<int>(threadIdx.x) / 128));
  return result;
}

/// The instruction for kCols columns. `adds`: to d; otherwise d is overwritten. kATurned, kBTurned: the
/// factor's terms are the rows of its panels (of a left factor) or not (of a right one).
template <int kCols>
struct Wgmma;

// clang-format off
#define FLASHLAB_TEXT_16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FLASHLAB_TEXT_32 FLASHLAB_TEXT_16 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define FLASHLAB_TEXT_48 FLASHLAB_TEXT_32 ", " "%16, %17, %18, %19, %20, %21, %22, %23"
#define FLASHLAB_TEXT_64 FLASHLAB_TEXT_48 ", " "%24, %25, %26, %27, %28, %29, %30, %31"
#define FLASHLAB_TEXT_80 FLASHLAB_TEXT_64 ", " "%32, %33, %34, %35, %36, %37, %38, %39"
#define FLASHLAB_TEXT_96 FLASHLAB_TEXT_80 ", " "%40, %41, %42, %43, %44, %45, %46, %47"
#define FLASHLAB_TEXT_112 FLASHLAB_TEXT_96 ", " "%48, %49, %50, %51, %52, %53, %54, %55"
#define FLASHLAB_TEXT_128 FLASHLAB_TEXT_112 ", " "%56, %57, %58, %59, %60, %61, %62, %63"
#define FLASHLAB_TEXT_144 FLASHLAB_TEXT_128 ", " "%64, %65, %66, %67, %68, %69, %70, %71"
#define FLASHLAB_TEXT_160 FLASHLAB_TEXT_144 ", " "%72, %73, %74, %75, %76, %77, %78, %79"
#define FLASHLAB_TEXT_176 FLASHLAB_TEXT_160 ", " "%80, %81, %82, %83, %84, %85, %86, %87"
#define FLASHLAB_TEXT_192 FLASHLAB_TEXT_176 ", " "%88, %89, %90, %91, %92, %93, %94, %95"
#define FLASHLAB_TEXT_208 FLASHLAB_TEXT_192 ", " "%96, %97, %98, %99, %100, %101, %102, %103"
#define FLASHLAB_TEXT_224 FLASHLAB_TEXT_208 ", " "%104, %105, %106, %107, %108, %109, %110, %111"
#define FLASHLAB_TEXT_240 FLASHLAB_TEXT_224 ", " "%112, %113, %114, %115, %116, %117, %118, %119"
#define FLASHLAB_TEXT_256 FLASHLAB_TEXT_240 ", " "%120, %121, %122, %123, %124, %125, %126, %127"
#define FLASHLAB_EIGHT(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                          "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define FLASHLAB_SUMS_16 FLASHLAB_EIGHT(0)
#define FLASHLAB_SUMS_32 FLASHLAB_SUMS_16, FLASHLAB_EIGHT(8)
#define FLASHLAB_SUMS_48 FLASHLAB_SUMS_32, FLASHLAB_EIGHT(16)
#define FLASHLAB_SUMS_64 FLASHLAB_SUMS_48, FLASHLAB_EIGHT(24)
#define FLASHLAB_SUMS_80 FLASHLAB_SUMS_64, FLASHLAB_EIGHT(32)
#define FLASHLAB_SUMS_96 FLASHLAB_SUMS_80, FLASHLAB_EIGHT(40)
#define FLASHLAB_SUMS_112 FLASHLAB_SUMS_96, FLASHLAB_EIGHT(48)
#define FLASHLAB_SUMS_128 FLASHLAB_SUMS_112, FLASHLAB_EIGHT(56)
#define FLASHLAB_SUMS_144 FLASHLAB_SUMS_128, FLASHLAB_EIGHT(64)
#define FLASHLAB_SUMS_160 FLASHLAB_SUMS_144, FLASHLAB_EIGHT(72)
#define FLASHLAB_SUMS_176 FLASHLAB_SUMS_160, FLASHLAB_EIGHT(80)
#define FLASHLAB_SUMS_192 FLASHLAB_SUMS_176, FLASHLAB_EIGHT(88)
#define FLASHLAB_SUMS_208 FLASHLAB_SUMS_192, FLASHLAB_EIGHT(96)
#define FLASHLAB_SUMS_224 FLASHLAB_SUMS_208, FLASHLAB_EIGHT(104)
#define FLASHLAB_SUMS_240 FLASHLAB_SUMS_224, FLASHLAB_EIGHT(112)
#define FLASHLAB_SUMS_256 FLASHLAB_SUMS_240, FLASHLAB_EIGHT(120)

// Its type, its columns, and the numbers of the operands after the sums.
#define FLASHLAB_WGMMA_OF_TYPE(Type, type, N, n0, n1, n2, n3, n4, n5, n6)                          \
  template <bool kATurned, bool kBTurned>                                                          \
  __device__ static void multiply(Type, float (&d)[N / 2], MatrixDescriptor a, MatrixDescriptor b, \
                                  int adds) {                                                      \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" n2 ", 0;\n"                                  \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type                   \
                 " {" FLASHLAB_TEXT_##N "}, %" n0 ", %" n1 ", p, 1, 1, %" n3 ", %" n4 ";\n}\n"     \
                 : FLASHLAB_SUMS_##N                                                               \
                 : "l"(a), "l"(b), "r"(adds), "n"(kATurned ? 1 : 0), "n"(kBTurned ? 1 : 0));       \
  }                                                                                                \
  template <bool kBTurned>                                                                         \
  __device__ static void multiply(Type, float (&d)[N / 2], const unsigned (&a)[4],                 \
                                  MatrixDescriptor b, int adds) {                                  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" n5 ", 0;\n"                                  \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type                   \
                 " {" FLASHLAB_TEXT_##N "}, {%" n0 ", %" n1 ", %" n2 ", %" n3 "}, %" n4            \
                 ", p, 1, 1, %" n6 ";\n}\n"                                                        \
                 : FLASHLAB_SUMS_##N                                                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds),                  \
                   "n"(kBTurned ? 1 : 0));                                                         \
  }
#define FLASHLAB_WGMMA(N, ...)                                \
  template <>                                                 \
  struct Wgmma<N> {                                           \
    FLASHLAB_WGMMA_OF_TYPE(Bf16, "bf16", N, __VA_ARGS__)      \
    FLASHLAB_WGMMA_OF_TYPE(Fp16, "f16", N, __VA_ARGS__)       \
  };
FLASHLAB_WGMMA(16, "8", "9", "10", "11", "12", "13", "14")
FLASHLAB_WGMMA(32, "16", "17", "18", "19", "20", "21", "22")
FLASHLAB_WGMMA(48, "24", "25", "26", "27", "28", "29", "30")
FLASHLAB_WGMMA(64, "32", "33", "34", "35", "36", "37", "38")
FLASHLAB_WGMMA(80, "40", "41", "42", "43", "44", "45", "46")
FLASHLAB_WGMMA(96, "48", "49", "50", "51", "52", "53", "54")
FLASHLAB_WGMMA(112, "56", "57", "58", "59", "60", "61", "62")
FLASHLAB_WGMMA(128, "64", "65", "66", "67", "68", "69", "70")
FLASHLAB_WGMMA(144, "72", "73", "74", "75", "76", "77", "78")
FLASHLAB_WGMMA(160, "80", "81", "82", "83", "84", "85", "86")
FLASHLAB_WGMMA(176, "88", "89", "90", "91", "92", "93", "94")
FLASHLAB_WGMMA(192, "96", "97", "98", "99", "100", "101", "102")
FLASHLAB_WGMMA(208, "104", "105", "106", "107", "108", "109", "110")
FLASHLAB_WGMMA(224, "112", "113", "114", "115", "116", "117", "118")
FLASHLAB_WGMMA(240, "120", "121", "122", "123", "124", "125", "126")
FLASHLAB_WGMMA(256, "128", "129", "130", "131", "132", "133", "134")
// clang-format on
#else  // flashlab's emulation of a GPU
using flashlab::cuda::ptx::matrix_descriptor;
using flashlab::cuda::ptx::wgmma_commit;
using flashlab::cuda::ptx::wgmma_fence;
template <class Number>
__device__ inline void keep_in_place(Number&) {}
__device__ inline void wgmma_wait_for_all() { flashlab::cuda::ptx::wgmma_wait<0>(); }
__device__ inline int warpgroup_of_block() { return static_cast<int>(threadIdx.x) / 128; }

template <int kCols>
struct Wgmma {
  template <class Factor>
  static void issue(const unsigned* a_registers, float (&d)[kCols / 2], MatrixDescriptor a,
                    MatrixDescriptor b, bool adds, bool a_turned, bool b_turned) {
    flashlab::cuda::emulation::WgmmaIssue one;
    one.num_columns = kCols;
    one.is_bfloat16 = std::is_same_v<Factor, Bf16>;
    one.accumulates = adds;
    one.is_a_transposed = a_turned;
    one.is_b_transposed = b_turned;
    one.d = d;
    one.a = a_registers;
    one.a_descriptor = a;
    one.b_descriptor = b;
    flashlab::cuda::emulation::AsyncBlock& block = flashlab::cuda::emulation::async_block();
    block.warpgroups().issue(flashlab::cuda::emulation::thread_number(), one, block.views(),
                             block.operations());
  }
  template <bool kATurned, bool kBTurned, class Factor>
  static void multiply(Factor, float (&d)[kCols / 2], MatrixDescriptor a, MatrixDescriptor b,
                       int adds) {
    issue<Factor>(nullptr, d, a, b, adds != 0, kATurned, kBTurned);
  }
  template <bool kBTurned, class Factor>
  static void multiply(Factor, float (&d)[kCols / 2], const unsigned (&a)[4], MatrixDescriptor b,
                       int adds) {
    issue<Factor>(a, d, 0, b, adds != 0, false, kBTurned);
  }
};
#endif

// Factors ----------------------------------------------------------------------------------------------

/// 16 terms are 32 bytes along a row of a panel, or 16 rows of it.
constexpr unsigned kTermsAlongRow = 32 / 16, kTermsAcrossRows = 16 * 128 / 16;  // of a descriptor

/// A right factor in shared memory. `descriptor(k)`: of its terms from 16 k on.
template <class Tile>
struct WarpgroupRight {
  static constexpr bool kTurned = true;
  static constexpr int kTerms = Tile::kRows, kCols = Tile::kCols;
  MatrixDescriptor first;
  __device__ explicit WarpgroupRight(const Tile& tile)
      : first(matrix_descriptor(tile.panel(0), 2 * Tile::kPanelElements)) {}
  __device__ MatrixDescriptor descriptor(int k) const {
    return first + static_cast<unsigned>(k) * kTermsAcrossRows;
  }
};
template <class Tile>
struct WarpgroupRight<Turned<Tile>> {
  static constexpr bool kTurned = false;
  static constexpr int kTerms = Tile::kCols, kCols = Tile::kRows;
  MatrixDescriptor first;
  __device__ explicit WarpgroupRight(const Turned<Tile>& turned)
      : first(matrix_descriptor(turned.tile.panel(0), 16)) {}
  __device__ MatrixDescriptor descriptor(int k) const {
    constexpr unsigned kPanel = 2 * Tile::kPanelElements / 16;
    return first + static_cast<unsigned>(k / 4) * kPanel +
           static_cast<unsigned>(k % 4) * kTermsAlongRow;
  }
};

/// A left factor: the 64 rows of this thread's warpgroup.
template <class Factor, class Tile>
struct WarpgroupLeft {  // in shared memory
  MatrixDescriptor first;
  __device__ explicit WarpgroupLeft(const Tile& tile)
      : first(matrix_descriptor(
            tile.panel(0) + static_cast<unsigned>(warpgroup_of_block()) * (64 * 128), 16)) {}
  template <class Right, int kSums>
  __device__ void multiply(float (&d)[kSums], int k, const Right& right, int adds) const {
    constexpr unsigned kPanel = 2 * Tile::kPanelElements / 16;
    Wgmma<2 * kSums>::template multiply<false, Right::kTurned>(
        Factor(), d,
        first + static_cast<unsigned>(k / 4) * kPanel +
            static_cast<unsigned>(k % 4) * kTermsAlongRow,
        right.descriptor(k), adds);
  }
};
template <class Factor, class Tile>
struct WarpgroupLeft<Factor, Turned<Tile>> {
  MatrixDescriptor first;
  __device__ explicit WarpgroupLeft(const Turned<Tile>& turned)
      : first(matrix_descriptor(turned.tile.panel(0) + static_cast<unsigned>(warpgroup_of_block()) *
                                                           (2 * Tile::kPanelElements),
                                16)) {}
  template <class Right, int kSums>
  __device__ void multiply(float (&d)[kSums], int k, const Right& right, int adds) const {
    Wgmma<2 * kSums>::template multiply<true, Right::kTurned>(
        Factor(), d, first + static_cast<unsigned>(k) * kTermsAcrossRows, right.descriptor(k),
        adds);
  }
};
template <class Factor, int kRows, int kCols, int kWarps, bool kIsTurned>
struct WarpgroupLeft<Factor, Fragment<kRows, kCols, kWarps, kIsTurned>> {  // in registers
  unsigned a[kCols / 16][4];
  __device__ explicit WarpgroupLeft(const Fragment<kRows, kCols, kWarps, kIsTurned>& held) {
#pragma unroll
    for (int k = 0; k < kCols / 16; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* const pair = held.x[0][2 * k + i / 2] + i % 2 * 2;
        a[k][i] = pair_of(Factor(), pair[0], pair[1]);
        keep_in_place(a[k][i]);
      }
    }
  }
  template <class Right, int kSums>
  __device__ void multiply(float (&d)[kSums], int k, const Right& right, int adds) const {
    Wgmma<2 * kSums>::template multiply<Right::kTurned>(Factor(), d, a[k], right.descriptor(k),
                                                        adds);
  }
};

// Products ---------------------------------------------------------------------------------------------

/// What a factor is, without the places that a ring gives it.
template <class Tile, int kStages>
__device__ inline const Tile& factor_of(const Ring<Tile, kStages>& ring) {
  return ring;
}
template <class Factor>
__device__ inline const Factor& factor_of(const Factor& factor) {
  return factor;
}

template <class Factor, class Left, class Right, class Target>
__device__ inline void multiply_by_warpgroups(Target& target, const Left& left, const Right& right,
                                              bool adds) {
  static_assert(Target::kRowBlocks == 1 && Target::kWarps % 4 == 0, "64 rows for each warpgroup");
  static_assert(WarpgroupRight<Right>::kCols == Target::kCols, "as many columns");
  constexpr int kSums = Target::kCols / 2;
  float(&d)[kSums] = *reinterpret_cast<float(*)[kSums]>(&target.x[0][0][0]);
  const WarpgroupLeft<Factor, Left> rows(left);
  const WarpgroupRight<Right> cols(right);
#pragma unroll
  for (int i = 0; i < kSums; ++i) keep_in_place(d[i]);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < WarpgroupRight<Right>::kTerms / 16; ++k) {
    rows.multiply(d, k, cols, k > 0 || adds);
  }
  wgmma_commit();
  wgmma_wait_for_all();
#pragma unroll
  for (int i = 0; i < kSums; ++i) keep_in_place(d[i]);
}

/// target += left right, as they are held. Waits for the sums.
template <class Factor, class Left, class Right, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void add_warpgroup_product(Fragment<kRows, kCols, kWarps, kTurned>& target,
                                             const Left& left, const Right& right) {
  multiply_by_warpgroups<Factor>(target, factor_of(left), factor_of(right), true);
}

/// target = left right.
template <class Factor, class Left, class Right, int kRows, int kCols, int kWarps, bool kTurned>
__device__ inline void set_warpgroup_product(Fragment<kRows, kCols, kWarps, kTurned>& target,
                                             const Left& left, const Right& right) {
  multiply_by_warpgroups<Factor>(target, factor_of(left), factor_of(right), false);
}

}  // namespace toy

#endif  // FLASHLAB_WARPGROUP_PRODUCTS
