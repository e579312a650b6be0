// The kinds of tensor core products: 16-bit elements, tf32, fp32 split into two tf32.
//
// Each kind has a warp's fragments A (16 x kDepth) and B (kDepth x 8), and loads them from shared
// tiles (device/shared_tile.cuh). There are two orders of the summed index. Both operands of a
// product must use the same one:
//   by rows      ARows, BRows                     A(m, k) = tile(m, k)
//                                                 B(k, n) = tile(n, k)
//   by columns   AColumns, BColumns, a_of_sums    A(m, k) = tile(k, m) or sums(m, k)
//                                                 B(k, n) = tile(k, n)
//
// load(fragment, ARows<Tile>(tile), m, k) loads A; the other loads are similar. For B it loads two
// adjacent fragments, 16 columns n. m, n, k are multiples of 16, 16 and kDepth. An ARows contains
// one address: created once for a tile, it serves all loads from it. Sums (D, 16 x 8 fp32,
// ptx/mma.cuh) become an A without leaving their registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/ldmatrix.cuh"
#include "attention_cuda/ptx/mma.cuh"

namespace flashlab::cuda {

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x % 32); }
/// Recomputed at each use: values derived from it would otherwise occupy registers all the time.
__device__ __forceinline__ int new_lane_id() {
  return static_cast<int>(ptx::opaque(threadIdx.x) % 32);
}

/// The row of a tile whose address each lane gives to ldmatrix, for A or B by rows or by columns.
template <class Tile>
struct ARows : LaneRow<Tile> {
  __device__ __forceinline__ explicit ARows(const Tile& tile, int lane = lane_id())
      : LaneRow<Tile>(tile, lane % 16, lane / 16) {}
};
template <class Tile>
struct BRows : LaneRow<Tile> {
  __device__ __forceinline__ explicit BRows(const Tile& tile, int lane = lane_id())
      : LaneRow<Tile>(tile, lane / 16 * 8 + lane % 8, lane / 8 % 2) {}
};

/// bf16 or fp16: products are exact, sums are fp32.
template <class ElementType>
struct TensorCore16 {
  using Element = ElementType;
  static constexpr int kDepth = 16;
  static constexpr bool kSplitsValues = false;
  static constexpr int kSumTiles = 2;  // tiles of sums that form one A: 16 x 16
  struct A {
    std::uint32_t r[4];
  };
  struct B {
    std::uint32_t r[2];
  };
  template <class Tile>
  struct AColumns : LaneRow<Tile> {
    __device__ __forceinline__ explicit AColumns(const Tile& tile, int lane = lane_id())
        : LaneRow<Tile>(tile, lane / 16 * 8 + lane % 8, lane / 8 % 2) {}
  };
  template <class Tile>
  struct BColumns : LaneRow<Tile> {
    __device__ __forceinline__ explicit BColumns(const Tile& tile, int lane = lane_id())
        : LaneRow<Tile>(tile, lane % 16, lane / 16) {}
  };

  template <class Tile>
  __device__ __forceinline__ static void load(A& a, const ARows<Tile>& rows, int m, int k) {
    ptx::ldmatrix_x4(a.r, rows.at(m, k / 8));
  }
  template <class Tile>
  __device__ __forceinline__ static void load(B (&b)[2], const BRows<Tile>& rows, int n, int k) {
    std::uint32_t r[4];
    ptx::ldmatrix_x4(r, rows.at(n, k / 8));
    split(b, r);
  }
  template <class Tile>
  __device__ __forceinline__ static void load(A& a, const AColumns<Tile>& columns, int m, int k) {
    ptx::ldmatrix_x4_transposed(a.r, columns.at(k, m / 8));
  }
  template <class Tile>
  __device__ __forceinline__ static void load(B (&b)[2], const BColumns<Tile>& columns, int n,
                                              int k) {
    std::uint32_t r[4];
    ptx::ldmatrix_x4_transposed(r, columns.at(k, n / 8));
    split(b, r);
  }
  __device__ __forceinline__ static void a_of_sums(A& a, const float (*sums)[4]) {
    a.r[0] = ptx::pack(Element{}, sums[0][0], sums[0][1]);
    a.r[1] = ptx::pack(Element{}, sums[0][2], sums[0][3]);
    a.r[2] = ptx::pack(Element{}, sums[1][0], sums[1][1]);
    a.r[3] = ptx::pack(Element{}, sums[1][2], sums[1][3]);
  }
  __device__ __forceinline__ static void multiply_add(float (&sum)[4], const A& a, const B& b) {
    ptx::mma_m16n8k16(Element{}, sum, a.r, b.r);
  }

 private:
  __device__ __forceinline__ static void split(B (&b)[2], const std::uint32_t (&r)[4]) {
    b[0].r[0] = r[0];
    b[0].r[1] = r[1];
    b[1].r[0] = r[2];
    b[1].r[1] = r[3];
  }
};

/// fp32 values as tf32 operands: rounded once, or split in two parts x = high + low. The product
/// low x low, 2^-22 of the whole, is omitted.
template <bool kInTwoParts>
struct TensorCoreFloat {
  using Element = float;
  static constexpr int kDepth = 8;
  static constexpr bool kSplitsValues = kInTwoParts;
  static constexpr int kSumTiles = 1;
  static constexpr int kParts = kInTwoParts ? 2 : 1;
  struct A {
    std::uint32_t r[kParts][4];
  };
  struct B {
    std::uint32_t r[kParts][2];
  };

  /// By columns, index 2 t takes the instruction's place t, and 2 t + 1 takes t + 4. Sums have this
  /// layout, and rows two apart use different banks.
  template <class Tile>
  struct Columns {
    __device__ __forceinline__ explicit Columns(const Tile& tile, int lane = lane_id())
        : even(tile, lane % 4 * 2, lane / 16, lane / 4 % 4 * 4),
          odd(tile, lane % 4 * 2 + 1, lane / 16, lane / 4 % 4 * 4) {}
    __device__ __forceinline__ void skip_chunks(int index) {
      even.skip_chunks(index);
      odd.skip_chunks(index);
    }
    LaneRow<Tile> even, odd;
  };
  template <class Tile>
  struct AColumns : Columns<Tile> {
    using Columns<Tile>::Columns;
  };
  template <class Tile>
  struct BColumns : Columns<Tile> {
    using Columns<Tile>::Columns;
  };

  template <class Tile>
  __device__ __forceinline__ static void load(A& a, const ARows<Tile>& rows, int m, int k) {
    std::uint32_t bits[4];
    ptx::ldmatrix_x4(bits, rows.at(m, k / 4));
#pragma unroll
    for (int i = 0; i < 4; ++i) set(a, i, __uint_as_float(bits[i]));
  }
  template <class Tile>
  __device__ __forceinline__ static void load(B (&b)[2], const BRows<Tile>& rows, int n, int k) {
    std::uint32_t bits[4];
    ptx::ldmatrix_x4(bits, rows.at(n, k / 4));
#pragma unroll
    for (int i = 0; i < 4; ++i) set(b[i / 2], i % 2, __uint_as_float(bits[i]));
  }
  template <class Tile>
  __device__ __forceinline__ static void load(A& a, const AColumns<Tile>& columns, int m, int k) {
    set(a, 0, ptx::load_shared_float(columns.even.at(k, m / 4)));
    set(a, 1, ptx::load_shared_float(columns.even.at(k, m / 4 + 2)));
    set(a, 2, ptx::load_shared_float(columns.odd.at(k, m / 4)));
    set(a, 3, ptx::load_shared_float(columns.odd.at(k, m / 4 + 2)));
  }
  template <class Tile>
  __device__ __forceinline__ static void load(B (&b)[2], const BColumns<Tile>& columns, int n,
                                              int k) {
    set(b[0], 0, ptx::load_shared_float(columns.even.at(k, n / 4)));
    set(b[0], 1, ptx::load_shared_float(columns.odd.at(k, n / 4)));
    set(b[1], 0, ptx::load_shared_float(columns.even.at(k, n / 4 + 2)));
    set(b[1], 1, ptx::load_shared_float(columns.odd.at(k, n / 4 + 2)));
  }
  __device__ __forceinline__ static void a_of_sums(A& a, const float (*sums)[4]) {
    set(a, 0, sums[0][0]);
    set(a, 1, sums[0][2]);
    set(a, 2, sums[0][1]);
    set(a, 3, sums[0][3]);
  }
  __device__ __forceinline__ static void multiply_add(float (&sum)[4], const A& a, const B& b) {
    if constexpr (kInTwoParts) {
      // Tensor cores truncate their sums. Starting from 0 keeps this error small; the addition to
      // the old sum is rounded.
      float product[4] = {};
      ptx::mma_m16n8k8_tf32(product, a.r[1], b.r[0]);
      ptx::mma_m16n8k8_tf32(product, a.r[0], b.r[1]);
      ptx::mma_m16n8k8_tf32(product, a.r[0], b.r[0]);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] += product[e];
    } else {
      ptx::mma_m16n8k8_tf32(sum, a.r[0], b.r[0]);
    }
  }

 private:
  template <class Fragment>
  __device__ __forceinline__ static void set(Fragment& fragment, int i, float value) {
    if constexpr (kInTwoParts) {
      // The nearest tf32 value in two operations; cvt.rna takes three. The tensor core drops the
      // bits of the remainder below 2^-21 of the value. For NaN the remainder is NaN as well.
      const std::uint32_t high = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
      fragment.r[0][i] = high;
      fragment.r[1][i] = __float_as_uint(value - __uint_as_float(high));
    } else {
      fragment.r[0][i] = ptx::to_tf32(value);
    }
  }
};

using TensorCoreTf32 = TensorCoreFloat<false>;
using TensorCoreTf32x3 = TensorCoreFloat<true>;

}  // namespace flashlab::cuda
