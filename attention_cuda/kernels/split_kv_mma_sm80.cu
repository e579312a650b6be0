// split-kv forward on tensor cores, for few queries: K and V are split among warps, and a second
// kernel merges the partial results.
//
//   1  each warp, on its key tiles j:  S = Q Kj^T;  m' = max(m, rowmax S)
//                                      l, O *= 2^(c (m - m'));  P = 2^(c S - c m');  l += rowsum P
//                                      O += P Vj
//   2  each block (a split):           m, l, O of its warps merged into one partial result
//   3  then for each query:            m = max m_s;  l = sum l_s exp(m_s - m)
//                                      O = sum O_s exp(m_s - m) / l;  lse = m + log l
//
// Shapes     Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q] fp32
//            K, V [batch, num_kv_heads, seqlen_k, head_dim];  bf16 or fp16, strides in elements
//            m_s, l_s [rows, num_splits];  O_s [rows, num_splits, head_dim];  fp32; a row is a
//            query of a head, in the order of O
// Tiles      a block has 16 rows that read the same K and V: queries of one kv head's heads, the
//            rows of one mma. Q is in registers. A warp has its own keys and its own kStages tiles
//            of K and V [16, kHeadDim] in shared memory: cp.async fills the others while one is
//            used, and warps never wait for each other
// Grid       batch x num_kv_heads x groups of 16 rows x splits
// Traffic    K and V once for each group of rows; partial results written and read once
// Bound      DRAM: bytes of K and V / its read rate. The FLOPs per byte of K and V are at most 16
// Workspace  rows num_splits (head_dim + 2) numbers
// Against    split_kv: products on tensor cores, so 16 rows cost what one costs; copies without
//            registers, so more bytes are in flight
// Source     Dao et al. 2023, Flash-Decoding
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/device/packed_rows.cuh"
#include "attention_cuda/device/partial_results.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/device/tensor_core.cuh"
#include "attention_cuda/device/warp_attention.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/kernels/split_kv_mma_sm80.hpp"
#include "attention_cuda/ptx/cp_async.cuh"
#include "attention_cuda/ptx/dependent_launch.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

template <class ElementType, int kHeadDimension>
struct SplitKvMmaConfig : WarpAttentionConfig<TensorCore16<ElementType>, kHeadDimension, 1,
                                              SplitKvMmaShape::kKeys, true> {
  using Base = WarpAttentionConfig<TensorCore16<ElementType>, kHeadDimension, 1,
                                   SplitKvMmaShape::kKeys, true>;
  static constexpr SplitKvMmaShape kShape = kSplitKvMmaShapes[head_dim_index(kHeadDimension)];
  static constexpr int kRows = SplitKvMmaShape::kRows, kNumWarps = kShape.num_warps;
  static constexpr int kNumThreads = kShape.num_threads(), kStages = kShape.stages;
  static constexpr int kTileElements = SplitKvMmaShape::kKeys * kHeadDimension;
  static constexpr int kWarpBytes = kStages * 2 * Base::KVTile::kBytes;
  static constexpr int kSharedBytes = kShape.shared_bytes(kHeadDimension);
  /// After the loop a warp stores O [kRows, kHeadDim], m and l [kRows] over its own tiles. Padding
  /// puts the eight rows that a warp stores at once into different banks.
  static constexpr int kResultStride = kHeadDimension + 8;
  static_assert(kRows == Base::kWarpRows && kSharedBytes == kNumWarps * kWarpBytes);
  static_assert(4 * kRows * (kResultStride + 2) <= kWarpBytes);
  static_assert(kSharedBytes <= kLeastSharedBytes);
};

/// Whether rows can be copied 16 bytes at a time.
struct AlignedInputs {
  bool Q, K, V;
};

/// One warp's numerator, maximum and sum for the block's rows, in shared memory.
template <class Config>
struct WarpResult {
  float* data;
  __device__ __forceinline__ float* O(int row, int column) const {
    return data + row * Config::kResultStride + column;
  }
  __device__ __forceinline__ float& row_max(int row) const {  // the largest score, not yet scaled
    return data[Config::kRows * Config::kResultStride + row];
  }
  __device__ __forceinline__ float& row_sum(int row) const {
    return data[Config::kRows * (Config::kResultStride + 1) + row];
  }
};

/// The block copies its rows of Q; missing elements become 0.
template <class Config>
__device__ __forceinline__ void load_packed_queries(
    const typename Config::WarpQTile& sQ, const DeviceTensor<const typename Config::Element>& Q,
    const PackedRows& rows, const Sizes& sizes, bool is_aligned) {
  using Tile = typename Config::WarpQTile;
  constexpr int kPerChunk = Tile::kChunkElements;
  for (int k = static_cast<int>(threadIdx.x); k < Tile::kRows * Tile::kChunks;
       k += Config::kNumThreads) {
    const int r = k / Tile::kChunks, chunk = k % Tile::kChunks;
    typename Config::Element* const to = sQ.chunk(r, chunk);
    const int num_columns = r < rows.count ? sizes.head_dim - chunk * kPerChunk : 0;
    const auto* const from = Q.row(rows.b, rows.head(r, sizes), rows.query(r, sizes)) +
                             chunk * kPerChunk * Q.column_stride;
    if (is_aligned && num_columns > 0) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
      continue;
    }
    for (int e = 0; e < kPerChunk; ++e) {
      to[e] = e < num_columns ? from[e * Q.column_stride] : typename Config::Element{};
    }
  }
}

/// Stores a warp's numerator, times l / (l + the largest weight's error), maximum and sum.
template <class Config>
__device__ __forceinline__ void store_result(
    const warp_attention::Fragments<Config>& fragments,
    const RowStatistics<1, typename Config::Element>& statistics, const WarpResult<Config>& result,
    float scale_log2) {
  const int lane = lane_id();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = 8 * half + lane / 4;
    const float sum = row_sum(statistics.sum[0][half]);
    const float of_O = without_error(sum, statistics.error(0, half, scale_log2));
#pragma unroll
    for (int n = 0; n < Config::kColumnTiles; ++n) {
      *reinterpret_cast<float2*>(result.O(row, 8 * n + lane % 4 * 2)) =
          make_float2(fragments.O[0][n][2 * half] * of_O, fragments.O[0][n][2 * half + 1] * of_O);
    }
    if (lane % 4 == 0) {
      result.row_max(row) = statistics.maxima.score(half);
      result.row_sum(row) = sum;
    }
  }
}

/// Merges the results of the block's warps into the partial result of its split. scale: of S, positive.
template <class Config, class ResultOf>
__device__ __forceinline__ void merge_warps(const ResultOf& result_of, const PackedRows& rows,
                                            const PartialResults& partial, const Sizes& sizes,
                                            float scale) {
  for (int k = static_cast<int>(threadIdx.x); k < rows.count * Config::kHeadDim;
       k += Config::kNumThreads) {
    const int r = k / Config::kHeadDim, column = k % Config::kHeadDim;
    if (column >= sizes.head_dim) continue;
    float row_max = -INFINITY, row_sum = 0, numerator = 0;
    for (int w = 0; w < Config::kNumWarps; ++w) row_max = fmaxf(row_max, result_of(w).row_max(r));
    for (int w = 0; w < Config::kNumWarps; ++w) {
      const float weight =
          ptx::exp2_approximate((result_of(w).row_max(r) - shift_of(row_max)) * (scale * kLog2E));
      row_sum = fmaf(weight, result_of(w).row_sum(r), row_sum);
      numerator = fmaf(weight, *result_of(w).O(r, column), numerator);
    }
    const std::int64_t at = rows.index(r, sizes) * partial.num_splits + rows.split;
    partial.O[at * sizes.head_dim + column] = numerator;
    if (column == 0) {
      partial.row_max[at] = row_max * scale;
      partial.row_sum[at] = row_sum;
    }
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads)
    split_kv_mma_sm80_kernel(ForwardArguments<typename Config::Element> arguments,
                             PartialResults partial, AlignedInputs aligned, float scale) {
  using namespace warp_attention;
  using Element = typename Config::Element;
  using KVTile = typename Config::KVTile;
  constexpr int kKeys = Config::kBlockKV, kStages = Config::kStages;
  ptx::let_next_kernel_start();  // the merge
  const Sizes& sizes = arguments.sizes;
  const float scale_log2 = scale * kLog2E;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_id();
  const PackedRows rows = packed_rows_of_block<Config::kRows>(sizes, partial.num_splits);
  const VisibleKeys visible = arguments.mask.of_batch_entry(rows.b, sizes);

  // The keys that each of this lane's two rows sees, and that any or all rows see.
  const int earliest = rows.earliest_query(sizes), last = rows.last_query(sizes);
  const int seen_by_any = visible.first_of_query(earliest), end_by_any = visible.of_query(last);
  const int seen_by_all = visible.first_of_query(last), end_by_all = visible.of_query(earliest);
  int first_visible[2], end_visible[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = rows.query(8 * half + lane / 4, sizes);
    first_visible[half] = visible.first_of_query(query);
    end_visible[half] = visible.of_query(query);
  }

  // The split's tiles, whole except for the last one of all keys. Warps take them in turn, so that
  // the block reads adjacent rows at about the same time.
  const auto first_tile = [&](int split) {
    return static_cast<int>(std::int64_t{(end_by_any - seen_by_any + kKeys - 1) / kKeys} * split /
                            partial.num_splits);
  };
  constexpr int kKeyStep = Config::kNumWarps * kKeys;
  const int begin_key = seen_by_any + (first_tile(rows.split) + warp) * kKeys;
  const int end_key = seen_by_any + first_tile(rows.split + 1) * kKeys;
  const int num_kv_tiles = max(0, (end_key - begin_key + kKeyStep - 1) / kKeyStep);

  unsigned char* const shared = ptx::shared_memory();
  const auto warp_bytes = [&](int w) { return shared + w * Config::kWarpBytes; };
  auto* const tiles = reinterpret_cast<Element*>(warp_bytes(warp));
  // sK(stage), sV(stage): [kKeys, kHeadDim]
  const auto sK = [&](int stage) { return KVTile{tiles + 2 * stage * Config::kTileElements}; };
  const auto sV = [&](int stage) {
    return KVTile{tiles + (2 * stage + 1) * Config::kTileElements};
  };
  TileStream<32, KVTile> K(global_rows(arguments.K, rows.b, rows.kv_head, begin_key, end_by_any,
                                       sizes.head_dim, aligned.K),
                           lane);
  TileStream<32, KVTile> V(global_rows(arguments.V, rows.b, rows.kv_head, begin_key, end_by_any,
                                       sizes.head_dim, aligned.V),
                           lane);
  const auto start_loading = [&](int kv_tile) {
    if (kv_tile < num_kv_tiles) {
      K.load(sK(kv_tile % kStages));
      V.load(sV(kv_tile % kStages));
      K.skip(kKeyStep - kKeys);
      V.skip(kKeyStep - kKeys);
    }
    ptx::cp_async_commit();  // an empty group keeps the count
  };
#pragma unroll
  for (int kv_tile = 0; kv_tile < kStages - 1; ++kv_tile) start_loading(kv_tile);

  // Q passes through the last stage of the first warp, which nothing is loaded into yet.
  const typename Config::WarpQTile sQ{reinterpret_cast<Element*>(shared) +
                                      2 * (kStages - 1) * Config::kTileElements};
  load_packed_queries<Config>(sQ, arguments.Q, rows, sizes, aligned.Q);
  __syncthreads();
  if (warp == 0) take_sign_into_queries<Config>(sQ, arguments.softmax_scale);
  __syncthreads();
  Fragments<Config> fragments;
  RowStatistics<1, typename Config::Element> statistics;
  const ARows<typename Config::WarpQTile> query_rows(sQ);
#pragma unroll
  for (int k = 0; k < Config::kDepthSteps; ++k) {
    load_queries<Config>(fragments.Q[k], query_rows, k);
  }
  clear(fragments.O);
  __syncthreads();

  // 1. The warp's tiles.
  for (int kv_tile = 0; kv_tile < num_kv_tiles; ++kv_tile) {
    const int stage = kv_tile % kStages, first_key = begin_key + kv_tile * kKeyStep;
    ptx::cp_async_wait<kStages - 2>();
    __syncwarp();  // all lanes have this tile, and have finished with the stage that is filled next
    start_loading(kv_tile + kStages - 1);
    scores(fragments, query_rows, BRows(sK(stage)));
    make_scores(fragments, scale_log2);
    if (first_key + kKeys > end_by_all) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        hide_from(fragments, 0, half, end_visible[half] - first_key);
      }
    }
    if (first_key < seen_by_all) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        hide_before(fragments, 0, half, first_visible[half] - first_key);
      }
    }
    raise_maximum(statistics, fragments.S, scale_log2, fragments.O);
    exponentiate(statistics, fragments.S, scale_log2);
    add_values(fragments, BColumns<Config>(sV(stage)));
  }

  // 2. The block's partial result.
  const auto result_of = [&](int w) {
    return WarpResult<Config>{reinterpret_cast<float*>(warp_bytes(w))};
  };
  ptx::cp_async_wait<0>();
  __syncwarp();  // all lanes have finished with the tiles
  store_result(fragments, statistics, result_of(warp), scale_log2);
  __syncthreads();
  merge_warps<Config>(result_of, rows, partial, sizes, scale);
}

// ------------------------------------------------------------------------------------- launcher

std::size_t split_kv_mma_workspace_bytes(const AttentionProblem& problem,
                                         const ExecutionOptions& options) {
  return partial_results_bytes(problem, split_kv_mma_tiles(problem), options);
}

template <class Element, int kHeadDim>
void launch_split_kv_mma(const ForwardCall& call) {
  using Config = SplitKvMmaConfig<Element, kHeadDim>;
  const SplitTiles tiles = split_kv_mma_tiles(call.problem);
  Workspace workspace(call.workspace);
  const PartialResults partial = partial_results_in(workspace, call.problem, tiles, call.options);
  const auto arguments = forward_arguments<Element>(call);
  const int head_dim = arguments.sizes.head_dim;
  const AlignedInputs aligned = {arguments.Q.has_aligned_rows(head_dim),
                                 arguments.K.has_aligned_rows(head_dim),
                                 arguments.V.has_aligned_rows(head_dim)};
  // If the scale is 0, Q is 0 as well (take_sign_into_queries), so any factor works.
  const float scale = arguments.softmax_scale == 0 ? 1.f : fabsf(arguments.softmax_scale);
  launch(call, tiles.name, split_kv_mma_sm80_kernel<Config>,
         {row_groups(call.problem, tiles) * partial.num_splits, Config::kNumThreads,
          static_cast<std::size_t>(Config::kSharedBytes)},
         arguments, partial, aligned, scale);
  launch_merge<Element, kHeadDim>(call, partial);
}

void launch_split_kv_mma_sm80(const ForwardCall& call) {
  with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
    if (call.problem.dtype == DataType::kBFloat16) {
      launch_split_kv_mma<BFloat16, kHeadDim>(call);
    } else {
      launch_split_kv_mma<Float16, kHeadDim>(call);
    }
  });
}

}  // namespace

extern const KernelRow split_kv_mma_sm80;
const KernelRow split_kv_mma_sm80 = {listed("split_kv_mma_sm80"), launch_split_kv_mma_sm80, nullptr,
                                     split_kv_mma_workspace_bytes};

}  // namespace flashlab::cuda
