// Shared parts of the fp32 backward kernels: tiles, the division of products among threads, and the
// step from S and dP to P and dS.
//
// Half of a block's threads computes S and P while the other half computes dP and dS. So
// each thread has 8 x 8 sums of every product (if head_dim is 64), and accumulates one
// gradient, not two.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/tile_product.cuh"
#include "attention_cuda/ptx/exp2.cuh"

namespace flashlab::cuda {

template <int kPaddedHeadDim>
struct BackwardConfig {
  static constexpr int kHeadDim = kPaddedHeadDim;
  static constexpr BackwardFp32Shape kShape = {kHeadDim};
  static constexpr int kBlock = kShape.block();
  static constexpr int kBlockQ = kBlock, kBlockKV = kBlock;
  static constexpr int kHalfThreads = BackwardFp32Shape::kHalfThreads;
  static constexpr int kNumThreads = BackwardFp32Shape::kNumThreads;
  static constexpr int kBlocksPerSM = 2;
  /// The limit of compute capability 8.6 and 8.9. On 9.0 two such blocks fit.
  static constexpr int kMaxSharedBytes = kLeastSharedBytes;

  using QueryTile = SharedTile<float, kBlockQ, kHeadDim>;   // Q, dO [kBlockQ, kHeadDim]
  using KeyTile = SharedTile<float, kBlockKV, kHeadDim>;    // K, V [kBlockKV, kHeadDim]
  using WeightTile = SharedTile<float, kBlockQ, kBlockKV>;  // P, dS [kBlockQ, kBlockKV]

  using WeightGrid = ProductGrid<kBlockQ, kBlockKV, kHalfThreads, 8>;
  /// dK or dV, 8 rows per thread.
  using KeyGrid = ProductGrid<kBlockKV, kHeadDim, kHalfThreads, kHalfThreads * 8 / kBlockKV>;
  /// dQ, 4 rows per thread.
  using QueryGrid = ProductGrid<kBlockQ, kHeadDim, kNumThreads, kNumThreads * 4 / kBlockQ>;
};

/// The statistics of one query.
struct StatisticsAndLimits {
  float lse_log2, delta;  // lse in powers of two
  int first, end;         // of the visible keys; both 0 if lse is -inf
};

/// lse in powers of two, +inf if the query sees nothing; and delta.
struct LoadedStatistics {
  float lse_log2, delta;
};

/// delta as device/delta.cuh stored it.
__device__ __forceinline__ float delta_of(const float* delta,
                                          const BackwardArguments<float>& arguments, int b, int h,
                                          int i) {
  const Sizes& sizes = arguments.sizes;
  const std::int64_t head = static_cast<std::int64_t>(b) * sizes.num_heads + h;
  return delta[head * sizes.seqlen_q + i];
}

/// Delta: a source of delta, for which delta_of is declared.
template <class Delta>
__device__ __forceinline__ LoadedStatistics query_statistics(
    const BackwardArguments<float>& arguments, const Delta& delta, int b, int h, int i) {
  const float lse = i < arguments.sizes.seqlen_q ? *arguments.lse.row(b, h, i) : -INFINITY;
  if (lse == -INFINITY) return {INFINITY, 0.f};
  return {lse * kLog2E, delta_of(delta, arguments, b, h, i)};
}

__device__ __forceinline__ bool is_visible(const StatisticsAndLimits& query, int key) {
  return query.first <= key && key < query.end;
}

/// The statistics of a query tile, in shared memory.
template <int kBlockQ>
struct SharedStatistics {
  static constexpr int kBytes = kBlockQ * static_cast<int>(sizeof(StatisticsAndLimits));

  StatisticsAndLimits* data;

  /// Thread t stores those of query q_begin + t, with its range: found here, to save registers.
  __device__ __forceinline__ void put(const LoadedStatistics& statistics,
                                      const VisibleKeys& visible, int q_begin) const {
    if (threadIdx.x >= kBlockQ) return;
    const auto [lse_log2, delta] = statistics;
    if (lse_log2 == INFINITY) {
      data[threadIdx.x] = {0.f, 0.f, 0, 0};
      return;
    }
    const auto [first, end] = visible.range_of_query(q_begin + static_cast<int>(threadIdx.x));
    data[threadIdx.x] = {lse_log2, delta, first, end};
  }
  /// Returns whether some query does not see some key from kv_begin to kv_end. Called by a whole
  /// warp.
  __device__ __forceinline__ bool hide_some(int kv_begin, int kv_end) const {
    bool hide = false;
    for (int i = static_cast<int>(threadIdx.x) % kWarpSize; i < kBlockQ; i += kWarpSize) {
      hide = hide || kv_begin < data[i].first || data[i].end < kv_end;
    }
    return __any_sync(kAllLanes, hide) != 0;
  }
};

/// P = exp(scale S - lse), where S is Q K^T without the scale. hides_some: some pair is hidden.
template <class Grid, class Tile, class Statistics>
__device__ __forceinline__ void store_P(const Grid& grid, const typename Grid::Sums& S,
                                        const Statistics& statistics, int kv_begin, bool hides_some,
                                        float softmax_scale_log2, const Tile& sP) {
#pragma unroll
  for (int r = 0; r < Grid::kRows; ++r) {
    const int row = grid.single_row(r);
    const StatisticsAndLimits query = statistics.data[row];
#pragma unroll
    for (int c = 0; c < Grid::kColumns; ++c) {
      const int column = grid.single_column(c);
      const float P = ptx::exp2_approximate(fmaf(S[r][c], softmax_scale_log2, -query.lse_log2));
      *sP.at(row, column) = !hides_some || is_visible(query, kv_begin + column) ? P : kHiddenWeight;
    }
  }
}

/// dS = P o (dP - delta); sdS may be the same memory as sP.
template <class Grid, class Tile, class Statistics>
__device__ __forceinline__ void store_dS(const Grid& grid, const typename Grid::Sums& dP,
                                         const Statistics& statistics, int kv_begin,
                                         bool hides_some, const Tile& sP, const Tile& sdS) {
#pragma unroll
  for (int r = 0; r < Grid::kRows; ++r) {
    const int row = grid.single_row(r);
    const StatisticsAndLimits query = statistics.data[row];
#pragma unroll
    for (int c = 0; c < Grid::kColumns; ++c) {
      const int column = grid.single_column(c);
      const float dS = *sP.at(row, column) * (dP[r][c] - query.delta);
      *sdS.at(row, column) =
          !hides_some || is_visible(query, kv_begin + column) ? dS : kHiddenWeight;
    }
  }
}

/// Stores four consecutive columns of a gradient, as far as they are inside head_dim.
__device__ __forceinline__ void store_4(const GlobalRows<float>& to, int row, int column,
                                        const float* values, float scale) {
  if (row >= to.num_rows || column >= to.head_dim) return;
  float* const target = to.data + row * to.row_stride;
  if (to.is_aligned) {
    *reinterpret_cast<float4*>(target + column) =
        make_float4(scale * values[0], scale * values[1], scale * values[2], scale * values[3]);
    return;
  }
  for (int e = 0; e < 4 && column + e < to.head_dim; ++e) {
    target[(column + e) * to.column_stride] = scale * values[e];
  }
}

/// Stores a thread's sums in the layout of add_product_nn: single rows.
template <class Grid>
__device__ __forceinline__ void store_single_rows(const Grid& grid, const typename Grid::Sums& sums,
                                                  float scale, const GlobalRows<float>& to) {
#pragma unroll
  for (int r = 0; r < Grid::kRows; ++r) {
#pragma unroll
    for (int c = 0; c < Grid::kColumns; c += 4) {
      store_4(to, grid.single_row(r), 4 * grid.column_chunk(c / 4), &sums[r][c], scale);
    }
  }
}

/// Stores a thread's sums in the layout of add_product_tn: groups of four rows.
template <class Grid>
__device__ __forceinline__ void store_row_chunks(const Grid& grid, const typename Grid::Sums& sums,
                                                 float scale, const GlobalRows<float>& to) {
#pragma unroll
  for (int r = 0; r < Grid::kRows; ++r) {
    const int row = 4 * grid.row_chunk(r / 4) + r % 4;
#pragma unroll
    for (int c = 0; c < Grid::kColumns; c += 4) {
      store_4(to, row, 4 * grid.column_chunk(c / 4), &sums[r][c], scale);
    }
  }
}

}  // namespace flashlab::cuda
