// Shared parts of the tensor-core backward kernels: P and dS of one warp, from S and dP in
// registers, and the statistics of a query.
//
//   P = 2^(softmax_scale log2(e) S - lse log2(e)),   dS = P o (dP - delta)
//
// dS is not scaled: softmax_scale multiplies dQ and dK once, at the end. A query that sees no key,
// or only scores of -inf, has lse = -inf. Here lse becomes +inf, so that P = 0.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/device/warp_products.cuh"
#include "attention_cuda/ptx/exp2.cuh"

namespace flashlab::cuda {

struct QueryStatistics {
  float lse_log2, delta;
};

/// Returns the statistics of a query whose lse is this one, -inf if it sees nothing. Its delta may be NaN
/// then.
__device__ __forceinline__ QueryStatistics query_statistics(float lse, float delta) {
  return lse == -INFINITY ? QueryStatistics{INFINITY, 0.F} : QueryStatistics{lse * kLog2E, delta};
}

/// Loads the statistics of query i. A query beyond the last one sees nothing.
template <class Arguments>
__device__ __forceinline__ QueryStatistics load_statistics(const Arguments& arguments,
                                                           const float* delta, int b, int h,
                                                           int i) {
  const Sizes& sizes = arguments.sizes;
  const float lse = i < sizes.seqlen_q ? *arguments.lse.row(b, h, i) : -INFINITY;
  if (lse == -INFINITY) return {INFINITY, 0.f};
  const std::int64_t head = static_cast<std::int64_t>(b) * sizes.num_heads + h;
  return {lse * kLog2E, delta[head * sizes.seqlen_q + i]};
}

/// Returns 2^(scale_log2 score - lse_log2), or 0 if the key is hidden.
__device__ __forceinline__ float weight(float score, float scale_log2, float lse_log2,
                                        bool is_visible) {
  return is_visible ? ptx::exp2_approximate(fmaf(score, scale_log2, -lse_log2)) : 0.f;
}

/// Rows are keys: replaces S^T by P^T and dP^T by dS^T, for the warp's keys from first_key on and
/// queries whose statistics and ranges are in shared memory. kIsEdge: some query does not see some
/// key.
template <bool kIsEdge, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void weigh_keys(WarpSums<kRowTiles, kColumnTiles>& S,
                                           WarpSums<kRowTiles, kColumnTiles>& dP,
                                           const float* lse_log2, const float* delta,
                                           float scale_log2, const IndexRange* ranges,
                                           int first_key, int lane) {
  const int row = lane / 4, column = lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < kColumnTiles; ++n) {
    const float2 lse_pair = *reinterpret_cast<const float2*>(lse_log2 + n * 8 + column);
    const float2 delta_pair = *reinterpret_cast<const float2*>(delta + n * 8 + column);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float query_lse = j == 0 ? lse_pair.x : lse_pair.y;
      const float query_delta = j == 0 ? delta_pair.x : delta_pair.y;
      // In terms of the lane's rows, the visible keys of this query are begin … begin + count - 1.
      const IndexRange range = kIsEdge ? ranges[n * 8 + column + j] : IndexRange{0, 0};
      const int begin = range.first - first_key - row;
      const auto count = static_cast<unsigned>(range.end - range.first);
#pragma unroll
      for (int m = 0; m < kRowTiles * 2; ++m) {
        float& score = S[m / 2][n][m % 2 * 2 + j];
        float& gradient = dP[m / 2][n][m % 2 * 2 + j];
        // One comparison: two of them cost registers.
        const bool is_visible = !kIsEdge || static_cast<unsigned>(m * 8 - begin) < count;
        score = weight(score, scale_log2, query_lse, is_visible);
        gradient = is_visible ? score * (gradient - query_delta) : 0.f;
      }
    }
  }
}

/// Rows are queries, two per row tile and lane, with statistics in registers and ranges in shared
/// memory: replaces S by P and dP by dS, for the keys from first_key on.
template <bool kIsEdge, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void weigh_queries(WarpSums<kRowTiles, kColumnTiles>& S,
                                              WarpSums<kRowTiles, kColumnTiles>& dP,
                                              const QueryStatistics (&statistics)[kRowTiles * 2],
                                              float scale_log2, const IndexRange* ranges,
                                              int first_key) {
  const int row = lane_id() / 4, column = lane_id() % 4 * 2;
#pragma unroll
  for (int m = 0; m < kRowTiles * 2; ++m) {
    const IndexRange range = kIsEdge ? ranges[m * 8 + row] : IndexRange{0, 0};
    const int begin = range.first - first_key - column, end = range.end - first_key - column;
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float& score = S[m / 2][n][m % 2 * 2 + j];
        float& gradient = dP[m / 2][n][m % 2 * 2 + j];
        const bool is_visible = !kIsEdge || (begin <= n * 8 + j && n * 8 + j < end);
        score = weight(score, scale_log2, statistics[m].lse_log2, is_visible);
        gradient = is_visible ? score * (gradient - statistics[m].delta) : 0.f;
      }
    }
  }
}

}  // namespace flashlab::cuda
