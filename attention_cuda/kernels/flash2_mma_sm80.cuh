// flash2 forward on tensor cores: one block per query tile, one pass over K and V.
//
//   m = -inf, l = 0, O = 0; or what an earlier call stored as its state
//   for each K/V tile j that the query tile sees:
//     1  start loading Kj+1 and Vj+1
//     2  S = Q Kj^T;  -inf for hidden keys, on edge tiles only
//     3  m' = max(m, rowmax S);  l, O *= 2^(c (m - m'));  P = 2^(c S - c m');  l += rowsum P
//     4  O += P Vj
//   5  O = O / (l + e),  lse = scale m + ln l; or c m, l and O l / (l + e) are stored as a state. e: what rounding P to 16 bits
//      added to the largest weight (device/online_softmax.cuh)
//
// Shapes   Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q] fp32
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  bf16, fp16 or fp32, strides in elements
// Tiles    sQ [kBlockQ, kHeadDim] stays in shared memory; two each of sK, sV [kBlockKV, kHeadDim]:
//          cp.async fills one while the other is used; S, P, O are in registers, 16 x kRowTiles
//          rows per warp
// Grid     groups of heads whose K and V fit L2 together (under a causal mask one group of all); in
//          each group query tiles x heads, heads fastest, the longest (last) query tiles first
// Traffic  reads Q once, K and V num_q_tiles times; writes O and lse once
// Against  flash2_fp32: products by tensor cores; P stays in registers
// Source   Dao 2023, FlashAttention-2, Algorithm 1
#pragma once

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/forward_state.cuh"
#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/device/tensor_core.cuh"
#include "attention_cuda/device/warp_attention.cuh"
#include "attention_cuda/kernels/flash2_mma_sm80.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// kNumWarps warps of 16 kRowTiles queries each, and kBlockKV keys at a time.
template <class UnitType, int kHeadDimension, int kWarps, int kRowTilesAWarp, int kKeys,
          bool kKeepsQueries, int kBlocksAnSm>
struct Flash2Config
    : WarpAttentionConfig<UnitType, kHeadDimension, kRowTilesAWarp, kKeys, kKeepsQueries> {
  using Base = WarpAttentionConfig<UnitType, kHeadDimension, kRowTilesAWarp, kKeys, kKeepsQueries>;
  static constexpr int kNumWarps = kWarps, kNumThreads = 32 * kWarps, kMinBlocks = kBlocksAnSm;
  static constexpr int kBlockQ = kNumWarps * Base::kWarpRows;
  using QTile = SharedTile<typename Base::Element, kBlockQ, kHeadDimension>;
  static constexpr int kRangeBytes = kBlockQ * static_cast<int>(sizeof(IndexRange));
  static constexpr int kSharedBytes = QTile::kBytes + 4 * Base::KVTile::kBytes + kRangeBytes;
  static_assert(kSharedBytes <= kLeastSharedBytes);
};

template <class Unit, int kHeadDim, Flash2Shape kShape>
struct Flash2ConfigOf : Flash2Config<Unit, kHeadDim, kShape.num_warps, kShape.row_tiles,
                                     kShape.block_kv, kShape.keeps_queries, kShape.min_blocks> {
  static_assert(Flash2ConfigOf::kBlockQ == kShape.block_q() &&
                Flash2ConfigOf::kSharedBytes ==
                    kShape.shared_bytes(kHeadDim, sizeof(typename Unit::Element)));
};

/// Whether rows can be copied 16 bytes at a time.
struct AlignedRows {
  bool Q, K, V, O;
};

namespace flash2_mma {

using namespace warp_attention;

/// Sets hidden scores after (kIsBefore: before) a query's keys to -inf: the ranges are those of the
/// warp's queries, first_key is the tile's.
template <bool kIsBefore, class Config>
__device__ __forceinline__ void hide(Fragments<Config>& fragments, const IndexRange* ranges,
                                     int first_key) {
#pragma unroll
  for (int r = 0; r < Config::kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const IndexRange range = ranges[16 * r + 8 * half + lane_id() / 4];
      if (kIsBefore) {
        hide_before(fragments, r, half, range.first - first_key);
      } else {
        hide_from(fragments, r, half, range.end - first_key);
      }
    }
  }
}

template <class Element>
__device__ __forceinline__ void store_pair(Element* to, float first, float second) {
  *reinterpret_cast<std::uint32_t*>(to) = ptx::pack(Element{}, first, second);
}
__device__ __forceinline__ void store_pair(float* to, float first, float second) {
  *reinterpret_cast<float2*>(to) = make_float2(first, second);
}

/// Stores O = O / (l + error) in the warp's own rows of sQ, and lse in global memory. scale: of S, positive.
template <class Config>
__device__ __forceinline__ void finish(
    Fragments<Config>& fragments,
    const RowStatistics<Config::kRowTiles, typename Config::Element>& rows,
    const typename Config::WarpQTile& sQ, float* mLse, std::int64_t lse_stride, float scale,
    int num_rows) {
  __syncwarp();  // all lanes have finished reading these rows as queries
  const int lane = lane_id();
#pragma unroll
  for (int r = 0; r < Config::kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = 16 * r + 8 * half + lane / 4;
      const float sum = row_sum(rows.sum[r][half]);
      const float inverse = sum == 0 ? 0.f : 1.f / (sum + rows.error(r, half, scale * kLog2E));
#pragma unroll
      for (int n = 0; n < Config::kColumnTiles; ++n) {
        store_pair(sQ.at(row, 8 * n + lane % 4 * 2), fragments.O[r][n][2 * half] * inverse,
                   fragments.O[r][n][2 * half + 1] * inverse);
      }
      if (mLse != nullptr && lane % 4 == 0 && row < num_rows) {
        mLse[row * lse_stride] = rows.maxima.log_sum(2 * r + half, sum, scale);
      }
    }
  }
}

/// The state of a warp's queries.
template <class Config>
__device__ __forceinline__ void load_state(
    Fragments<Config>& fragments, RowStatistics<Config::kRowTiles, typename Config::Element>& rows,
    const StateTensors& state, int b, int h, int first_query, const Sizes& sizes,
    float scale_log2) {
  const int lane = new_lane_id();
#pragma unroll
  for (int r = 0; r < Config::kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row =
          ptx::recomputed(min(first_query + 16 * r + 8 * half + lane / 4, sizes.seqlen_q - 1));
      float m;
      StateRow(state, ptx::recomputed(b), ptx::recomputed(h), row, lane, sizes.head_dim)
          .load<Config::kHeadDim>(m, rows.sum[r][half],
                                  [&](int n) { return fragments.O[r][n] + 2 * half; });
      const float factor = rows.maxima.go_on(2 * r + half, m, scale_log2);
      if (!__any_sync(0xffffffffu, factor != 1)) continue;
      rows.sum[r][half] *= factor;
#pragma unroll
      for (int n = 0; n < Config::kHeadDim / 8; ++n) {
        fragments.O[r][n][2 * half] *= factor;
        fragments.O[r][n][2 * half + 1] *= factor;
      }
    }
  }
}
template <class Config>
__device__ __forceinline__ void store_state(
    Fragments<Config>& fragments,
    const RowStatistics<Config::kRowTiles, typename Config::Element>& rows,
    const StateTensors& state, int b, int h, int first_query, const Sizes& sizes,
    float scale_log2) {
  const int lane = new_lane_id();
#pragma unroll
  for (int r = 0; r < Config::kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = ptx::recomputed(first_query + 16 * r + 8 * half + lane / 4);
      const float sum = row_sum(rows.sum[r][half]);
      if (row >= sizes.seqlen_q) continue;
      const float of_O = without_error(sum, rows.error(r, half, scale_log2));
#pragma unroll
      for (int n = 0; n < Config::kHeadDim / 8; ++n) {
        fragments.O[r][n][2 * half] *= of_O;
        fragments.O[r][n][2 * half + 1] *= of_O;
      }
      float factor;
      const float m = rows.maxima.state(2 * r + half, scale_log2, factor);
      StateRow(state, ptx::recomputed(b), ptx::recomputed(h), row, lane, sizes.head_dim)
          .store<Config::kHeadDim>(
              m, sum, [&](int n) { return fragments.O[r][n] + 2 * half; }, factor);
    }
  }
}

}  // namespace flash2_mma

/// kHasState: with state_in or state_out. A kernel of its own, because loading a state spills registers.
template <class Config, bool kHasState>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kMinBlocks)
    flash2_mma_sm80_kernel(ForwardArguments<typename Config::Element> arguments,
                           StateTensors state_in, StateTensors state_out, AlignedRows aligned,
                           float scale_log2, int heads_together) {
  using namespace flash2_mma;
  using Element = typename Config::Element;
  constexpr int kThreads = Config::kNumThreads;
  const Sizes& sizes = arguments.sizes;

  // This block's queries, and the K/V tiles that they see.
  const GroupedTile tile = grouped_tile(sizes, heads_together, static_cast<int>(blockIdx.x),
                                        static_cast<int>(gridDim.x));
  const int b = tile.b, h = tile.h;
  const int first_query = tile.q_tile * Config::kBlockQ;
  const VisibleKeys visible = arguments.mask.of_batch_entry(b, sizes);
  const int last_query = min(first_query + Config::kBlockQ, sizes.seqlen_q) - 1;
  const int begin_key = visible.first_of_query(first_query), end_key = visible.of_query(last_query);
  const int num_kv_tiles = (end_key - begin_key + Config::kBlockKV - 1) / Config::kBlockKV;
  const int kv_head = h / sizes.heads_per_kv_head;

  auto* const shared = reinterpret_cast<Element*>(ptx::shared_memory());
  constexpr int kQElements = Config::kBlockQ * Config::kHeadDim;
  constexpr int kKVElements = Config::kBlockKV * Config::kHeadDim;
  const typename Config::QTile sQ{shared};  // [kBlockQ, kHeadDim]
  // sK(stage), sV(stage): [kBlockKV, kHeadDim]
  const auto sK = [&](int stage) {
    return typename Config::KVTile{shared + kQElements + 2 * stage * kKVElements};
  };
  const auto sV = [&](int stage) {
    return typename Config::KVTile{shared + kQElements + (2 * stage + 1) * kKVElements};
  };
  // The ranges of these queries, from begin_key on, in shared memory to save registers.
  auto* const sRanges = reinterpret_cast<IndexRange*>(shared + kQElements + 4 * kKVElements);
  for (int row = static_cast<int>(threadIdx.x); row < Config::kBlockQ; row += kThreads) {
    const IndexRange range = visible.range_of_query(first_query + row);
    sRanges[row] = {range.first - begin_key, range.end - begin_key};
  }
  // Keys that none of these queries sees are not read, because they may contain anything.
  TileStream<kThreads, typename Config::KVTile> K(
      global_rows(arguments.K, b, kv_head, begin_key, end_key, sizes.head_dim, aligned.K));
  TileStream<kThreads, typename Config::KVTile> V(
      global_rows(arguments.V, b, kv_head, begin_key, end_key, sizes.head_dim, aligned.V));

  load_tile<kThreads>(
      sQ, global_rows(arguments.Q, b, h, first_query, sizes.seqlen_q, sizes.head_dim, aligned.Q));
  if (num_kv_tiles > 0) {
    K.load(sK(0));
    V.load(sV(0));
  }
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  __syncthreads();

  // From here on each warp processes its own rows.
  const int first_row = static_cast<int>(threadIdx.x) / 32 * Config::kWarpRows;
  const int warp_query = first_query + first_row;
  const IndexRange* const ranges = sRanges + first_row;
  const typename Config::WarpQTile sWarpQ{sQ.data + first_row * Config::kHeadDim};
  take_sign_into_queries<Config>(sWarpQ, arguments.softmax_scale);
  const ARows<typename Config::WarpQTile> query_rows(sWarpQ);
  Fragments<Config> fragments;
  RowStatistics<Config::kRowTiles, typename Config::Element> rows;
  clear(fragments.O);
  if constexpr (kHasState) {
    if (state_in.is_given()) {
      load_state(fragments, rows, state_in, b, h, warp_query, sizes, scale_log2);
    }
  }
  if constexpr (Config::kQInRegisters) {
#pragma unroll
    for (int k = 0; k < Config::kDepthSteps; ++k) {
      load_queries<Config>(fragments.Q[k], query_rows, k);
    }
  }

  for (int kv_tile = 0; kv_tile < num_kv_tiles; ++kv_tile) {
    const int stage = kv_tile % 2, first_key = kv_tile * Config::kBlockKV;  // from begin_key on
    // 1. Load the next tile.
    if (kv_tile + 1 < num_kv_tiles) {
      K.load(sK(1 - stage));
      V.load(sV(1 - stage));
    }
    ptx::cp_async_commit();
    const IndexRange first_range = ranges[0], last_range = ranges[Config::kWarpRows - 1];
    if (first_key < last_range.end && first_key + Config::kBlockKV > first_range.first) {
      // 2. S.
      scores(fragments, query_rows, BRows(sK(stage)));
      make_scores(fragments, scale_log2);
      if (first_key + Config::kBlockKV > first_range.end) {
        hide<false>(fragments, ranges, first_key);
      }
      if (first_key < last_range.first) hide<true>(fragments, ranges, first_key);
      // 3. m, l and P.
      raise_maximum(rows, fragments.S, scale_log2, fragments.O);
      exponentiate(rows, fragments.S, scale_log2);
      // 4. O.
      add_values(fragments, BColumns<Config>(sV(stage)));
    }
    ptx::cp_async_wait<0>();
    __syncthreads();
  }

  // 5. O and lse. The places are computed again, because the loop needs the registers.
  const GroupedTile done =
      grouped_tile(sizes, heads_together, ptx::recomputed(static_cast<int>(blockIdx.x)),
                   static_cast<int>(gridDim.x));
  const int own_query = done.q_tile * Config::kBlockQ +
                        ptx::recomputed(static_cast<int>(threadIdx.x)) / 32 * Config::kWarpRows;
  if (own_query >= sizes.seqlen_q) return;
  if constexpr (kHasState) {
    if (state_out.is_given()) {
      store_state(fragments, rows, state_out, done.b, done.h, own_query, sizes, scale_log2);
      return;
    }
  }
  float* const mLse =
      arguments.lse.data == nullptr ? nullptr : arguments.lse.row(done.b, done.h, own_query);
  const float scale = arguments.softmax_scale == 0 ? 1.f : fabsf(arguments.softmax_scale);
  finish(fragments, rows, sWarpQ, mLse, arguments.lse.row_stride, scale,
         sizes.seqlen_q - own_query);
  __syncwarp();
  store_rows(sWarpQ, global_rows(arguments.O, done.b, done.h, own_query, sizes.seqlen_q,
                                 sizes.head_dim, aligned.O));
}

template <class Config>
void launch_flash2_mma(const ForwardCall& call, std::string_view name) {
  using Element = typename Config::Element;
  const auto arguments = forward_arguments<Element>(call);
  const AttentionProblem& problem = call.problem;
  const int head_dim = arguments.sizes.head_dim;
  const AlignedRows aligned = {
      arguments.Q.has_aligned_rows(head_dim), arguments.K.has_aligned_rows(head_dim),
      arguments.V.has_aligned_rows(head_dim), arguments.O.has_aligned_rows(head_dim)};
  // If the scale is 0, Q is 0 as well (take_sign_into_queries), so any c works.
  const float scale = arguments.softmax_scale == 0 ? 1.f : fabsf(arguments.softmax_scale);
  const std::int64_t num_q_tiles = (problem.seqlen_q + Config::kBlockQ - 1) / Config::kBlockQ;
  launch(call, name,
         call.options.has_state() ? flash2_mma_sm80_kernel<Config, true>
                                  : flash2_mma_sm80_kernel<Config, false>,
         {num_q_tiles * problem.batch * problem.num_heads, Config::kNumThreads,
          static_cast<std::size_t>(Config::kSharedBytes)},
         arguments, state_tensors(call.options.state_in), state_tensors(call.options.state_out),
         aligned, scale * kLog2E, heads_together(problem, kAllHeads));
}

}  // namespace flashlab::cuda
