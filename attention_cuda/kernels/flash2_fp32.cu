// flash2 forward, fp32: one block per query tile, one pass over K and V.
//
//   m = -inf, l = 0, O = 0; or what an earlier call stored as its state
//   for each K/V tile j:
//     1  wait for Kj; start loading Vj
//     2  S = scale Q Kj^T;  m' = max(m, rowmax S);  P = exp(S - m')
//        l = l exp(m - m') + rowsum P;  O = O exp(m - m');  m = m'
//     3  wait for Vj and P; start loading Kj+1
//     4  O = O + P Vj
//   5  O = O / l,  lse = m + log l; or m, l and O are stored as a state
//
// Shapes   Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  all fp32, any strides
// Tiles    sQ [kBlockQ, kHeadDim] stays in shared memory; sK, sV [kBlockKV, kHeadDim] change with
//          each K/V tile; a warp has 4 kRows queries and all keys of a tile, its lanes have
//          kRows x kColumns of S and of O (device/simt_product.cuh); P goes through shared memory,
//          within its warp
// Grid     batch x num_heads x query tiles, the last tiles first: under a causal mask the longest
// Traffic  reads Q once, K and V num_q_tiles times; writes O and lse once
// Numbers  2^x replaces e^x: Q is multiplied by log2 e and the scale, m and S are in base 2
// Masks    K/V tiles that no query sees are skipped; only tiles with hidden pairs compare scores
//          with the mask and leave out hidden rows of V
// Against  online: a K/V tile that is read once serves kBlockQ queries, and a number from shared
//          memory serves several multiply-adds
// Source   Dao 2023, FlashAttention-2, Algorithm 1
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "attention/score.hpp"
#include "attention_cuda/device/forward_state.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/device/padded_tile.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/device/simt_product.cuh"
#include "attention_cuda/kernels/flash2_fp32_choices.hpp"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

template <int kHeadDimValue, int kNumWarpsValue, int kRowsPerThread, int kBlockKVValue,
          int kBlocksPerSmValue>
struct Flash2Fp32Config {
  static constexpr int kHeadDim = kHeadDimValue, kNumWarps = kNumWarpsValue;
  static constexpr int kNumThreads = 32 * kNumWarps, kBlocksPerSm = kBlocksPerSmValue;
  static constexpr int kRows = kRowsPerThread, kWarpRows = 4 * kRows;
  static constexpr int kBlockQ = kNumWarps * kWarpRows, kBlockKV = kBlockKVValue;
  static constexpr int kUnroll = 2;  // times 4 of a product's depth; more does not fit the cache

  using QTile = PaddedTile<kBlockQ, kHeadDim, Flash2Fp32Shape::kQPadding>;
  using KTile = SharedTile<float, kBlockKV, kHeadDim>;
  using VTile = PaddedTile<kBlockKV, kHeadDim, 0>;
  using PTile = PaddedTile<kBlockQ, kBlockKV, Flash2Fp32Shape::kPPadding>;
  static constexpr int kSharedBytes = QTile::kBytes + KTile::kBytes + VTile::kBytes + PTile::kBytes;

  static_assert(kHeadDim % 32 == 0, "a lane has four columns of O at a time");
  static_assert(KTile::kPermuted == 8, "rows x, x + 8, … of sK are permuted alike");
  static_assert(kRows % 2 == 0 && kBlockKV % 8 == 0);
  static_assert(kSharedBytes <= 227 << 10, "a block of compute capability 9.0 has 227 KiB");
};

/// The lane's data of its queries, which persist over the K/V tiles.
template <class Config>
struct Queries {
  static constexpr int kRows = Config::kRows;
  float rO[kRows][Config::kHeadDim / 8] = {};  // the numerator
  float row_max[kRows];                        // base 2
  float row_sum[kRows] = {};                   // sum over the lane's own keys only
  int first;                                   // its query 0; its query r is first + row_of(r)
};

template <class Config>
struct Scores {
  float at[Config::kRows][Config::kBlockKV / 8];  // keys x, x + 8, … of the tile
};

template <class Config>
struct Flash2Fp32Tiles {
  typename Config::QTile sQ;  // [kBlockQ, kHeadDim]
  typename Config::KTile sK;  // [kBlockKV, kHeadDim]
  typename Config::VTile sV;  // [kBlockKV, kHeadDim]
  typename Config::PTile sP;  // [kBlockQ, kBlockKV]
};

template <class Config>
__device__ __forceinline__ Flash2Fp32Tiles<Config> tiles_in(unsigned char* memory) {
  float* const sQ = reinterpret_cast<float*>(memory);
  float* const sK = sQ + Config::QTile::kBytes / 4;
  float* const sV = sK + Config::KTile::kBytes / 4;
  float* const sP = sV + Config::VTile::kBytes / 4;
  return {{sQ}, {sK}, {sV}, {sP}};
}

/// Sets hidden scores to -inf; first_key is the tile's.
template <class Config>
__device__ __forceinline__ void hide_scores(Scores<Config>& S, const Queries<Config>& queries,
                                            const VisibleKeys& visible, int first_key, int x) {
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) {
    const int query = queries.first + row_of(r);
    const int first_visible = visible.first_of_query(query) - first_key - x,
              end_visible = visible.of_query(query) - first_key - x;
#pragma unroll
    for (int c = 0; c < Config::kBlockKV / 8; ++c) {
      const bool is_visible = first_visible <= 8 * c && 8 * c < end_visible;
      S.at[r][c] = is_visible ? S.at[r][c] : -INFINITY;
    }
  }
}

/// Stores P = 2^(S - m') at the lane's places in sP. Sets m = m', and multiplies O and l by
/// 2^(m - m').
template <class Config>
__device__ __forceinline__ void add_to_softmax(Queries<Config>& queries, const Scores<Config>& S,
                                               float* sP) {
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) {
    float new_max = S.at[r][0];
#pragma unroll
    for (int c = 1; c < Config::kBlockKV / 8; ++c) new_max = fmaxf(new_max, S.at[r][c]);
    new_max = fmaxf(queries.row_max[r], max_over_x(new_max));
    const float shift = shift_of(new_max);
    const float rescale = ptx::exp2_approximate(queries.row_max[r] - shift);
    float tile_sum = 0;
#pragma unroll
    for (int c = 0; c < Config::kBlockKV / 8; ++c) {
      const float p = ptx::exp2_approximate(S.at[r][c] - shift);
      sP[row_of(r) * Config::PTile::kStride + 8 * c] = p;
      tile_sum += p;
    }
    queries.row_max[r] = new_max;
    queries.row_sum[r] = fmaf(queries.row_sum[r], rescale, tile_sum);
#pragma unroll
    for (int c = 0; c < Config::kHeadDim / 8; ++c) queries.rO[r][c] *= rescale;
  }
}

/// O += P V without hidden rows of V: 0 times NaN would be NaN.
template <class Config>
__device__ __forceinline__ void add_visible_values(Queries<Config>& queries, const float* sP,
                                                   const float* sV, const VisibleKeys& visible,
                                                   int first_key) {
#pragma unroll 1
  for (int key = 0; key < Config::kBlockKV; ++key) {
    float v[Config::kHeadDim / 8];
#pragma unroll
    for (int c = 0; c < Config::kHeadDim / 8; ++c) {
      v[c] = sV[key * Config::VTile::kStride + c / 4 * 32 + c % 4];
    }
#pragma unroll
    for (int r = 0; r < Config::kRows; ++r) {
      const int query = queries.first + row_of(r);
      if (first_key + key >= visible.of_query(query)) continue;
      if (first_key + key < visible.first_of_query(query)) continue;
      const float p = sP[row_of(r) * Config::PTile::kStride + key];
#pragma unroll
      for (int c = 0; c < Config::kHeadDim / 8; ++c) {
        queries.rO[r][c] = fmaf(p, v[c], queries.rO[r][c]);
      }
    }
  }
}

/// Writes O = O / l and lse of the lane's queries and columns.
template <class Config>
__device__ __forceinline__ void write_outputs(const Queries<Config>& queries,
                                              const ForwardArguments<float>& arguments,
                                              const Place& place, int x) {
  const int head_dim = arguments.sizes.head_dim;
  const bool is_aligned = arguments.O.has_aligned_rows(head_dim);
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) {
    const float row_sum = sum_over_x(queries.row_sum[r]);
    const int query = queries.first + row_of(r);
    if (query >= arguments.sizes.seqlen_q) continue;
    float* const o = arguments.O.row(place.b, place.h, query);
#pragma unroll
    for (int c = 0; c < Config::kHeadDim / 8; c += 4) {
      const int column = 4 * x + c * 8;
      float values[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) values[e] = normalised(queries.rO[r][c + e], row_sum);
      if (is_aligned && column < head_dim) {
        *reinterpret_cast<float4*>(o + column) =
            make_float4(values[0], values[1], values[2], values[3]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (column + e < head_dim) o[(column + e) * arguments.O.column_stride] = values[e];
        }
      }
    }
    if (x == 0 && arguments.lse.data != nullptr) {
      *arguments.lse.row(place.b, place.h, query) = logsumexp(queries.row_max[r] * kLn2, row_sum);
    }
  }
}

/// Calls `move` with each of the lane's numbers and its place in a state. m and l are in all lanes.
template <class Config, class Move>
__device__ __forceinline__ void for_each_of_state(Queries<Config>& queries,
                                                  const StateTensors& state, const Place& place,
                                                  const Sizes& sizes, int x, const Move& move) {
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) {
    const int query = queries.first + row_of(r);
    if (query >= sizes.seqlen_q) continue;
    move(queries.row_max[r], *state.m.row(place.b, place.h, query), true);
    move(queries.row_sum[r], *state.l.row(place.b, place.h, query), true);
    float* const o = state.O.row(place.b, place.h, query);
#pragma unroll
    for (int c = 0; c < Config::kHeadDim / 8; ++c) {
      const int column = 4 * x + c / 4 * 32 + c % 4;
      if (column < sizes.head_dim) move(queries.rO[r][c], o[column * state.O.column_stride], false);
    }
  }
}

/// l goes to one of the row's eight lanes: their sums are added at the end.
template <class Config>
__device__ __forceinline__ void load_lane_state(Queries<Config>& queries, const StateTensors& state,
                                                const Place& place, const Sizes& sizes, int x) {
  for_each_of_state(queries, state, place, sizes, x,
                    [](float& own, const float& stored, bool) { own = stored; });
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) queries.row_sum[r] = x == 0 ? queries.row_sum[r] : 0.F;
}

template <class Config>
__device__ __forceinline__ void store_lane_state(Queries<Config>& queries,
                                                 const StateTensors& state, const Place& place,
                                                 const Sizes& sizes, int x) {
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) queries.row_sum[r] = sum_over_x(queries.row_sum[r]);
  for_each_of_state(queries, state, place, sizes, x, [x](float own, float& stored, bool is_of_row) {
    if (x == 0 || !is_of_row) stored = own;
  });
}

/// kHasState: with state_in or state_out. A kernel of its own, so that the other one keeps its registers.
template <class Config, bool kHasState>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kBlocksPerSm)
    flash2_fp32_kernel(ForwardArguments<float> arguments, StateTensors state_in,
                       StateTensors state_out, int num_q_tiles) {
  constexpr int kNumThreads = Config::kNumThreads, kBlockKV = Config::kBlockKV;
  const Sizes& sizes = arguments.sizes;
  const int thread = static_cast<int>(threadIdx.x), head_dim = sizes.head_dim;
  const auto [y, x] = lane_grid(thread % 32);

  // The block's queries, and the keys that they see.
  const Place place = place_of(blockIdx.x, num_q_tiles, sizes);
  const int first_query = (num_q_tiles - 1 - place.part) * Config::kBlockQ;
  const int end_query = min(first_query + Config::kBlockQ, sizes.seqlen_q);
  const VisibleKeys visible = arguments.mask.of_batch_entry(place.b, sizes);
  const int begin_key = visible.first_of_query(first_query),
            end_key = visible.of_query(end_query - 1);
  const int seen_by_all = visible.first_of_query(end_query - 1),
            end_by_all = visible.of_query(first_query);
  const GlobalRows<const float> mQ =
      global_rows(arguments.Q, place.b, place.h, first_query, end_query, head_dim,
                  arguments.Q.has_aligned_rows(head_dim));
  const bool is_k_aligned = arguments.K.has_aligned_rows(head_dim),
             is_v_aligned = arguments.V.has_aligned_rows(head_dim);

  // The lane's rows and columns.
  const Flash2Fp32Tiles<Config> tiles = tiles_in<Config>(ptx::shared_memory());
  const int first_row = thread / 32 * Config::kWarpRows + 2 * y;
  Queries<Config> queries;
  queries.first = first_query + first_row;
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) queries.row_max[r] = -INFINITY;
  if constexpr (kHasState) {
    if (state_in.is_given()) load_lane_state(queries, state_in, place, sizes, x);
  }

  // Load Q once and scale it; load K's first tile at the same time.
  load_tile<kNumThreads>(tiles.sQ, mQ);
  ptx::cp_async_commit();
  if (begin_key < end_key) {
    load_tile<kNumThreads>(tiles.sK, global_rows(arguments.K, place.b, place.kv_head, begin_key,
                                                 visible.keys, head_dim, is_k_aligned));
  }
  ptx::cp_async_commit();
  ptx::cp_async_wait<1>();
  __syncthreads();
  const float scale = arguments.softmax_scale * kLog2E;
  for (int k = thread; k < Config::kBlockQ * Config::kHeadDim; k += kNumThreads) {
    tiles.sQ.row(k / Config::kHeadDim)[k % Config::kHeadDim] *= scale;
  }

  for (int first_key = begin_key; first_key < end_key; first_key += kBlockKV) {
    // 1. Wait for K. All threads are done with the previous V: load the next one.
    ptx::cp_async_wait<0>();
    __syncthreads();
    load_tile<kNumThreads>(tiles.sV, global_rows(arguments.V, place.b, place.kv_head, first_key,
                                                 visible.keys, head_dim, is_v_aligned));
    ptx::cp_async_commit();

    // 2. S = scale Q K^T, m, l and P.
    Scores<Config> S = {};
    add_rows_times_rows<Config::kHeadDim, Config::QTile::kStride, Config::KTile::kColumns,
                        Config::kUnroll>(S.at, tiles.sQ.row(first_row),
                                         tiles.sK.data + x * Config::KTile::kColumns, 4 * x);
    make_scores(S.at[0], Config::kRows * kBlockKV / 8, kLog2E);
    const bool is_partly_hidden = first_key + kBlockKV > end_by_all || first_key < seen_by_all;
    if (is_partly_hidden) hide_scores(S, queries, visible, first_key, x);
    add_to_softmax(queries, S, tiles.sP.row(first_row) + x);

    // 3. Wait for V and P. All threads are done with this K: load the next one.
    ptx::cp_async_wait<0>();
    __syncthreads();
    if (first_key + kBlockKV < end_key) {
      load_tile<kNumThreads>(tiles.sK,
                             global_rows(arguments.K, place.b, place.kv_head, first_key + kBlockKV,
                                         visible.keys, head_dim, is_k_aligned));
    }
    ptx::cp_async_commit();

    // 4. O += P V.
    if (is_partly_hidden) {
      add_visible_values(queries, tiles.sP.row(first_row), tiles.sV.data + 4 * x, visible,
                         first_key);
    } else {
      add_rows_times_columns<kBlockKV, Config::PTile::kStride, Config::VTile::kStride,
                             Config::kUnroll>(queries.rO, tiles.sP.row(first_row),
                                              tiles.sV.data + 4 * x);
    }
  }
  // 5. O and lse, or the state.
  if constexpr (kHasState) {
    if (state_out.is_given()) {
      store_lane_state(queries, state_out, place, sizes, x);
      return;
    }
  }
  write_outputs(queries, arguments, place, x);
}

// ------------------------------------------------------------------------------------- launcher

template <class Config>
void launch_tiles(const ForwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const std::int64_t num_q_tiles = ceil_div(problem.seqlen_q, Config::kBlockQ);
  launch(call, "flash2_fp32",
         call.options.has_state() ? flash2_fp32_kernel<Config, true>
                                  : flash2_fp32_kernel<Config, false>,
         {problem.batch * problem.num_heads * num_q_tiles, Config::kNumThreads,
          static_cast<std::size_t>(Config::kSharedBytes)},
         forward_arguments<float>(call), state_tensors(call.options.state_in),
         state_tensors(call.options.state_out), static_cast<int>(num_q_tiles));
}

template <Flash2Fp32Shape kShape>
constexpr Flash2Fp32Choice choice() {
  using ThisConfig = Flash2Fp32Config<kShape.head_dim, kShape.num_warps, kShape.rows_per_thread,
                                      kShape.block_kv, kShape.min_blocks>;
  static_assert(ThisConfig::kSharedBytes == kShape.shared_bytes());
  static_assert(ThisConfig::kBlockQ == kShape.block_q());
  return {kShape, &launch_tiles<ThisConfig>};
}

template <int... kIndices>
constexpr auto choices(std::integer_sequence<int, kIndices...>) {
  return std::array{choice<kFlash2Fp32Shapes[kIndices]>()...};
}
constexpr auto kChoices = choices(std::make_integer_sequence<int, kNumFlash2Fp32Shapes>());

void launch_flash2_fp32(const ForwardCall& call) {
  int device = 0, shared_bytes = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  const int chosen = flash2_fp32_shape(call.problem.head_dim, shared_bytes);
  if (chosen < 0) {
    throw ProblemError("flash2_fp32",
                       std::to_string(shared_bytes) + " bytes of shared memory a block",
                       "more of them for this head_dim");
  }
  kChoices[static_cast<std::size_t>(chosen)].launch(call);
}

}  // namespace

std::span<const Flash2Fp32Choice> flash2_fp32_choices() { return kChoices; }

extern const KernelRow flash2_fp32;
const KernelRow flash2_fp32 = {listed("flash2_fp32"), launch_flash2_fp32};

}  // namespace flashlab::cuda
