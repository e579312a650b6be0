// P and dS of one warpgroup of the backward pass: 64 keys, and the queries of a tile as columns.
//
//   P^T = 2^(softmax_scale log2(e) S^T - lse log2(e)), 0 for hidden pairs;  dS^T = P^T o (dP^T - delta)
//
// Each thread has a part of two keys, 8 apart (ptx/wgmma.cuh): columns 2 (lane % 4) and the next of
// every 8 queries.
#pragma once

#include <cstdint>

#include "attention_cuda/device/backward_mma.cuh"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/ldmatrix.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/ptx/stmatrix.cuh"

namespace flashlab::cuda {

/// The queries that see all keys of a warpgroup.
struct SeeingAll {
  int first, end;

  __device__ SeeingAll(const VisibleKeys& visible, int first_key, int num_keys)
      : first(visible.first_query(first_key + num_keys - 1)), end(visible.end_query(first_key)) {}

  /// Whether some query of `num_queries` from `first_query` on does not see some key.
  __device__ bool excludes(int first_query, int num_queries, int seqlen_q) const {
    return first_query < first || min(first_query + num_queries, seqlen_q) > end;
  }
};

/// Replaces S^T by P^T. `lse`: of the tile's queries, times log2(e). `limits`: of the thread's first key
/// (store_limits). `c`: softmax_scale log2(e).
template <bool kHides, int kSums>
__device__ __forceinline__ void weigh(float (&S)[kSums], ptx::SharedAddress lse,
                                      ptx::SharedAddress limits, int first_query, float c,
                                      int lane) {
  lse += 4 * 2 * (lane % 4);
  int first[2] = {},
      count[2] = {};  // queries that see this thread's keys, from its first column on
  if constexpr (kHides) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float2 limit = ptx::load_shared_float2(limits + 8 * 8 * r);
      first[r] = __float_as_int(limit.x) - first_query - 2 * (lane % 4);
      count[r] = __float_as_int(limit.y);
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    const float2 lse_log2 = ptx::load_shared_float2(lse + 4 * 2 * i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      S[i + j] = ptx::exp2_approximate(S[i + j] * c - (j % 2 == 0 ? lse_log2.x : lse_log2.y));
      if constexpr (kHides) {
        const auto past = static_cast<unsigned>(2 * i + j % 2 - first[j / 2]);
        if (past >= static_cast<unsigned>(count[j / 2])) S[i + j] = 0;
      }
    }
  }
}

/// Replaces dP^T by dS^T. `delta`: of the tile's queries.
template <int kSums>
__device__ __forceinline__ void differentiate(float (&dP)[kSums], const float (&P)[kSums],
                                              ptx::SharedAddress delta, int lane) {
  delta += 4 * 2 * (lane % 4);
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    const float2 deltas = ptx::load_shared_float2(delta + 4 * 2 * i);
    dP[i] = P[i] * (dP[i] - deltas.x);
    dP[i + 1] = P[i + 1] * (dP[i + 1] - deltas.y);
    dP[i + 2] = P[i + 2] * (dP[i + 2] - deltas.x);
    dP[i + 3] = P[i + 3] * (dP[i + 3] - deltas.y);
  }
}

/// The same with P^T as `round` made it.
template <class Element, int kSums>
__device__ __forceinline__ void differentiate(float (&dP)[kSums],
                                              const std::uint32_t (&P)[kSums / 8][4],
                                              ptx::SharedAddress delta, int lane) {
  delta += 4 * 2 * (lane % 4);
#pragma unroll
  for (int i = 0; i < kSums; i += 2) {
    const float2 deltas = ptx::load_shared_float2(delta + 4 * 2 * (i / 4 * 4));
    float first, second;
    ptx::unpack(Element{}, P[i / 8][i / 2 % 4], first, second);
    dP[i] = first * (dP[i] - deltas.x);
    dP[i + 1] = second * (dP[i + 1] - deltas.y);
  }
}

/// An accumulator has the layout of A, with two columns per register.
template <class Element, int kSums>
__device__ __forceinline__ void round(std::uint32_t (&to)[kSums / 8][4],
                                      const float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums / 2; ++i) {
    to[i / 4][i % 4] = ptx::pack(Element{}, sums[2 * i], sums[2 * i + 1]);
  }
}

/// Where lane `lane` of a warp reads or writes one row of the four 8 x 8 matrices that make up 16 keys
/// and 16 queries, number k, of a tile [panel_rows, queries] in the 128-byte swizzle.
__device__ __forceinline__ ptx::SharedAddress matrix_row(ptx::SharedAddress tile, int panel_rows,
                                                         int first_key, int k, int lane) {
  const int matrix = lane / 8, key = first_key + lane % 8 + 8 * (matrix % 2);
  const int chunk = 2 * (k % 4) + matrix / 2;
  return tile + key * 128 + k / 4 * panel_rows * 128 + 16 * (chunk ^ (lane % 8));
}

/// Writes a warp's 16 keys of a rounded matrix to shared memory.
template <int kSteps>
__device__ __forceinline__ void store_rounded(ptx::SharedAddress tile, int panel_rows,
                                              int first_key, const std::uint32_t (&from)[kSteps][4],
                                              int lane) {
#pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    ptx::store_matrices(matrix_row(tile, panel_rows, first_key, k, lane), from[k][0], from[k][1],
                        from[k][2], from[k][3]);
  }
}

/// Reads them again.
template <int kSteps>
__device__ __forceinline__ void load_rounded(std::uint32_t (&to)[kSteps][4],
                                             ptx::SharedAddress tile, int panel_rows, int first_key,
                                             int lane) {
#pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    ptx::ldmatrix_x4(to[k], matrix_row(tile, panel_rows, first_key, k, lane));
  }
}

}  // namespace flashlab::cuda
