// split-kv forward: K and V are split among blocks, and a second kernel merges the partial results.
//
//   1  each split s of the keys (a block):   m, l, O = online's loop over the keys of s
//   2  then for each query:                  m = max m_s;  l = sum l_s exp(m_s - m)
//                                            O = sum O_s exp(m_s - m) / l;  lse = m + log l
//
// Shapes     Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//            K, V [batch, num_kv_heads, seqlen_k, head_dim];  all fp32, any strides
//            m_s, l_s [rows, num_splits];  O_s [rows, num_splits, head_dim];  a row is a query of a
//            head, in the order of O
// Tiles      a block has kRows rows that read the same K and V: queries of one kv head's heads. A
//            group of kLanes lanes has one key, each lane four columns at a time. The groups of the
//            block take turns, kKeys keys at a time, so that many loads are in flight
// Grid       batch x num_kv_heads x groups of rows x splits
// Traffic    K and V once for each group of rows; partial results written and read once
// Workspace  rows num_splits (head_dim + 2) numbers
// Against    online: enough blocks for the whole GPU even with few queries
// Source     Dao et al. 2023, Flash-Decoding; toy-model notes, merging tiles
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention/score.hpp"
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/four_columns.cuh"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/packed_rows.cuh"
#include "attention_cuda/device/partial_results.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/kernels/split_kv.hpp"
#include "attention_cuda/ptx/dependent_launch.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr int kSplitThreads = SplitKvShape::kNumThreads;

template <int kHeadDimValue, int kRowsValue>
struct SplitKvConfig {
  static constexpr SplitKvShape kShape = {kHeadDimValue, kRowsValue};
  static constexpr int kHeadDim = kShape.head_dim, kRows = kShape.rows;
  static constexpr int kLanes = kShape.lanes(), kVectors = kShape.vectors();
  static constexpr int kGroups = kShape.groups(), kKeys = kShape.keys();
  static constexpr int kSharedBytes = kShape.shared_bytes();
  static_assert(kSharedBytes <= static_cast<int>(kSharedBytesWithoutAsking));
};

/// A lane's data of one query: its columns of q and O, and m, l of its group's keys.
template <class Config>
struct Query {
  float4 q[Config::kVectors] = {}, o[Config::kVectors] = {};  // the lane's columns
  RowState state;
  int first_visible = 0, end_visible = 0;
};

template <class Config>
struct KeyRows {
  float4 at[Config::kKeys][Config::kVectors];
};

/// Loads kKeys rows from first_key on; rows from end_key on are 0.
template <class Config>
__device__ __forceinline__ void load_key_rows(KeyRows<Config>& keys,
                                              const DeviceTensor<const float>& from,
                                              const PackedRows& rows, int first_key, int end_key,
                                              int head_dim, bool is_aligned) {
  const int lane = static_cast<int>(threadIdx.x) % Config::kLanes;
  const float* const head = from.head(rows.b, rows.kv_head);
#pragma unroll
  for (int k = 0; k < Config::kKeys; ++k) {
#pragma unroll
    for (int v = 0; v < Config::kVectors; ++v) {
      const int column = 4 * (lane + v * Config::kLanes);
      const float* const row = head + (first_key + k) * from.row_stride;
      keys.at[k][v] = first_key + k < end_key
                          ? load_four(row, from.column_stride, column, head_dim, is_aligned)
                          : make_float4(0, 0, 0, 0);
    }
  }
}

/// The step of online for kKeys keys. Takes their maximum first, so that O is rescaled once.
template <class Config>
__device__ __forceinline__ void attend_to_rows(Query<Config>& query, const KeyRows<Config>& K,
                                               const KeyRows<Config>& V, int first_key, int end_key,
                                               float softmax_scale) {
  const int first_visible = query.first_visible, end_visible = min(query.end_visible, end_key);
  float s[Config::kKeys];
  float new_max = query.state.row_max;
#pragma unroll
  for (int k = 0; k < Config::kKeys; ++k) {
    float sum = 0;
#pragma unroll
    for (int v = 0; v < Config::kVectors; ++v) sum += dot(query.q[v], K.at[k][v]);
#pragma unroll
    for (int distance = Config::kLanes / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, distance);
    }
    const bool is_visible = first_visible <= first_key + k && first_key + k < end_visible;
    s[k] = is_visible ? score_of(softmax_scale * sum) : -INFINITY;
    new_max = fmaxf(new_max, s[k]);
  }
  const float shift = shift_of(new_max), rescale = expf(query.state.row_max - shift);
  query.state.row_max = new_max;
  query.state.row_sum *= rescale;
#pragma unroll
  for (int v = 0; v < Config::kVectors; ++v) scale_by(query.o[v], rescale);
#pragma unroll
  for (int k = 0; k < Config::kKeys; ++k) {
    if (first_key + k < first_visible || first_key + k >= end_visible) continue;  // V may be NaN
    const float p = expf(s[k] - shift);
    query.state.row_sum += p;
#pragma unroll
    for (int v = 0; v < Config::kVectors; ++v) add_multiple(query.o[v], p, V.at[k][v]);
  }
}

/// Merges O [kGroups, kHeadDim], m and l [kGroups] of a row, which the groups of lanes have stored
/// in shared memory, into the split's partial result. Each thread merges one column at a time.
template <class Config>
__device__ __forceinline__ void merge_groups(const float* sO, const float* sMax, const float* sSum,
                                             const PartialResults& partial, std::int64_t row,
                                             int split, int head_dim) {
  RowState merged;
  for (int group = 0; group < Config::kGroups; ++group) {
    merged = merge(merged, {sMax[group], sSum[group]});
  }
  const float shift = shift_of(merged.row_max);
  const std::int64_t at = row * partial.num_splits + split;
  const int thread = static_cast<int>(threadIdx.x);
  for (int column = thread; column < head_dim; column += kSplitThreads) {
    float sum = 0;
    for (int group = 0; group < Config::kGroups; ++group) {
      sum = fmaf(expf(sMax[group] - shift), sO[group * Config::kHeadDim + column], sum);
    }
    partial.O[at * head_dim + column] = sum;
  }
  if (thread == 0) {
    partial.row_max[at] = merged.row_max;
    partial.row_sum[at] = merged.row_sum;
  }
}

template <class Config>
__global__ void __launch_bounds__(kSplitThreads)
    split_kv_kernel(ForwardArguments<float> arguments, PartialResults partial) {
  constexpr int kRows = Config::kRows, kLanes = Config::kLanes;
  ptx::let_next_kernel_start();  // the merge
  const Sizes& sizes = arguments.sizes;
  const int head_dim = sizes.head_dim, thread = static_cast<int>(threadIdx.x);
  const int group = thread / kLanes, lane = thread % kLanes;
  const PackedRows rows = packed_rows_of_block<kRows>(sizes, partial.num_splits);
  const VisibleKeys visible = arguments.mask.of_batch_entry(rows.b, sizes);

  // The queries, and the keys from the first to the last that any of them sees.
  Query<Config> queries[kRows];
  int seen_by_any = INT32_MAX, end_by_any = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= rows.count) continue;
    const int i = rows.query(r, sizes);
    const float* const q = arguments.Q.row(rows.b, rows.head(r, sizes), i);
    queries[r].first_visible = visible.first_of_query(i);
    queries[r].end_visible = visible.of_query(i);
    seen_by_any = min(seen_by_any, queries[r].first_visible);
    end_by_any = max(end_by_any, queries[r].end_visible);
#pragma unroll
    for (int v = 0; v < Config::kVectors; ++v) {
      queries[r].q[v] = load_four(q, arguments.Q.column_stride, 4 * (lane + v * kLanes), head_dim,
                                  arguments.Q.has_aligned_rows(head_dim));
    }
  }

  // This split's keys, kKeys for each group of lanes in turn.
  const bool is_k_aligned = arguments.K.has_aligned_rows(head_dim),
             is_v_aligned = arguments.V.has_aligned_rows(head_dim);
  const auto bound = [&](int split) {
    return seen_by_any +
           static_cast<int>(std::int64_t{end_by_any - seen_by_any} * split / partial.num_splits);
  };
  const int end_key = bound(rows.split + 1);
  for (int turn = bound(rows.split); turn < end_key; turn += Config::kGroups * Config::kKeys) {
    const int first_key = turn + group * Config::kKeys;
    KeyRows<Config> K, V;
    load_key_rows(K, arguments.K, rows, first_key, end_key, head_dim, is_k_aligned);
    load_key_rows(V, arguments.V, rows, first_key, end_key, head_dim, is_v_aligned);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < rows.count) {
        attend_to_rows(queries[r], K, V, first_key, end_key, arguments.softmax_scale);
      }
    }
  }

  // Merge the results of the groups.
  float* const sO = reinterpret_cast<float*>(ptx::shared_memory());  // [kRows, kGroups, kHeadDim]
  float* const sMax = sO + kRows * Config::kGroups * Config::kHeadDim;  // [kRows, kGroups]
  float* const sSum = sMax + kRows * Config::kGroups;                   // [kRows, kGroups]
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int at = r * Config::kGroups + group;
#pragma unroll
    for (int v = 0; v < Config::kVectors; ++v) {
      *reinterpret_cast<float4*>(sO + at * Config::kHeadDim + 4 * (lane + v * kLanes)) =
          queries[r].o[v];
    }
    if (lane == 0) {
      sMax[at] = queries[r].state.row_max;
      sSum[at] = queries[r].state.row_sum;
    }
  }
  __syncthreads();
  for (int r = 0; r < rows.count; ++r) {
    const int at = r * Config::kGroups;
    merge_groups<Config>(sO + at * Config::kHeadDim, sMax + at, sSum + at, partial,
                         rows.index(r, sizes), rows.split, head_dim);
  }
}

// ------------------------------------------------------------------------------------- launcher

std::size_t split_kv_workspace_bytes(const AttentionProblem& problem,
                                     const ExecutionOptions& options) {
  return partial_results_bytes(problem, split_kv_tiles(problem), options);
}

template <class Config>
void launch_splits(const ForwardCall& call, const SplitTiles& tiles,
                   const PartialResults& partial) {
  launch(call, tiles.name, split_kv_kernel<Config>,
         {row_groups(call.problem, tiles) * partial.num_splits, kSplitThreads,
          static_cast<std::size_t>(Config::kSharedBytes)},
         forward_arguments<float>(call), partial);
}

void launch_split_kv(const ForwardCall& call) {
  const SplitTiles tiles = split_kv_tiles(call.problem);
  Workspace workspace(call.workspace);
  const PartialResults partial = partial_results_in(workspace, call.problem, tiles, call.options);
  with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
    if (tiles.rows == 1) {
      launch_splits<SplitKvConfig<kHeadDim, 1>>(call, tiles, partial);
    } else {
      launch_splits<SplitKvConfig<kHeadDim, SplitKvShape::kMostRows>>(call, tiles, partial);
    }
    launch_merge<float, kHeadDim>(call, partial);
  });
}

}  // namespace

extern const KernelRow split_kv;
const KernelRow split_kv = {listed("split_kv"), launch_split_kv, nullptr, split_kv_workspace_bytes};

}  // namespace flashlab::cuda
