// P and D of one warpgroup of bwd_onepass_fp16x3_sm90, from products of parts: as weights.cuh, with scales.
//
//   P^T = 2^(k q S^T - lse log2(e)), 0 for hidden pairs;  D^T = P^T o (v dP^T - delta / o)
//
// k and v are the scales of the thread's keys, q and o those of the queries of Q and dO: powers of two,
// whose products are exact.
#pragma once

#include <cstdint>

#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// Replaces S^T by P^T. `lse` and `scales`: those of the thread's first two queries. `limits`: of its first
/// key (store_limits).
template <bool kHides, int kSums>
__device__ __forceinline__ void weigh_scaled(float (&S)[kSums], ptx::SharedAddress lse,
                                             ptx::SharedAddress scales, const float (&of_keys)[2],
                                             ptx::SharedAddress limits, int first_query, int lane) {
  int first[2] = {}, count[2] = {};  // queries that see this thread's keys
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
    const float2 lse_log2 = ptx::load_shared_float2(lse + 4 * 2 * i),
                 scale = ptx::load_shared_float2(scales + 4 * 2 * i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      S[i + j] =
          ptx::exp2_approximate(fmaf(S[i + j] * of_keys[j / 2], j % 2 == 0 ? scale.x : scale.y,
                                     j % 2 == 0 ? -lse_log2.x : -lse_log2.y));
      if constexpr (kHides) {
        const auto past = static_cast<unsigned>(2 * i + j % 2 - first[j / 2]);
        if (past >= static_cast<unsigned>(count[j / 2])) S[i + j] = 0;
      }
    }
  }
}

/// Replaces dP^T by D^T. `deltas`: those of the thread's first two queries, over o.
template <int kSums>
__device__ __forceinline__ void differentiate_scaled(float (&dP)[kSums], const float (&P)[kSums],
                                                     ptx::SharedAddress deltas,
                                                     const float (&of_keys)[2]) {
#pragma unroll
  for (int i = 0; i < kSums; i += 4) {
    const float2 delta = ptx::load_shared_float2(deltas + 4 * 2 * i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      dP[i + j] = P[i + j] * fmaf(dP[i + j], of_keys[j / 2], j % 2 == 0 ? -delta.x : -delta.y);
    }
  }
}

/// The largest magnitude of this thread's part of its key `r` of 0 and 1.
template <int kSums>
__device__ __forceinline__ float largest_of_row(const float (&D)[kSums], int r) {
  float largest = 0;
#pragma unroll
  for (int i = 2 * r; i < kSums; i += 4) {
    largest = fmaxf(largest, fmaxf(fabsf(D[i]), fabsf(D[i + 1])));
  }
  return largest;
}

}  // namespace flashlab::cuda
