// flash1 forward: K/V tiles in the outer loop, one launch each; O, m and l are in global memory.
//
//   m = -inf, l = 0, O = 0 for all rows
//   for each K/V tile j (a launch), each query tile i (a block):
//     1  load Kj, Vj and the tile's m and l
//     for each query of the tile (a warp):
//       2  S = scale Qi Kj^T
//       3  m' = max(m, rowmax S);  P = exp(S - m');  l' = l exp(m - m') + rowsum P
//       4  O = (l exp(m - m') O + P Vj) / l';  m = m', l = l'
//     5  store m and l
//   lse = m + log l
//
// Shapes     Q, O [batch, num_heads, seqlen_q, head_dim];  lse, m, l [batch, num_heads, seqlen_q]
//            K, V [batch, num_kv_heads, seqlen_k, head_dim];  all fp32, any strides
// Tiles      sK, sV [kBlockKV, kHeadDim]: a lane has one key; sQ [kFlash1Warps, kHeadDim]: a warp
//            has one query; m and l [kBlockQ], which are loaded and stored together, in whole
//            sectors. O is divided by l in each step, so it is the attention to the keys so far
// Banks      sK's chunks are permuted, so that lanes read theirs from different banks. There
//            is no padding: cp.async fetches a sector twice if its halves belong to two
//            sectors of shared memory
// Grid       batch x num_heads x query tiles; the warps of a block share the queries of its tile
// Traffic    K and V once for each query tile; Q, O, m and l once for each K/V tile
// Workspace  m and l
// Against    flash2: the loops are exchanged, so that O, m and l stay in registers
// Source     Dao et al. 2022, FlashAttention, Algorithm 1
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention/score.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/padded_tile.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/device/warp_row.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/ptx/cp_async.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr int kFlash1Warps = Flash1Shape::kNumWarps, kFlash1Threads = Flash1Shape::kNumThreads;
constexpr int kBlockQ = Flash1Shape::kBlockQ, kBlockKV = Flash1Shape::kBlockKV;
constexpr int kStartThreads = Flash1Shape::kStartThreads;
static_assert(kBlockKV == kWarpSize, "one key per lane");

/// m and l, [batch, num_heads, seqlen_q] each.
struct Statistics {
  float* row_max;
  float* row_sum;
};

template <int kHeadDim>
using KeyTile = SharedTile<float, kBlockKV, kHeadDim>;
template <int kHeadDim>
using ValueTile = PaddedTile<kBlockKV, kHeadDim, 0>;
template <int kHeadDim>
using QueryRows = PaddedTile<kFlash1Warps, kHeadDim, 0>;

/// The shared memory of a block.
template <int kHeadDim>
struct Flash1Tiles {
  static constexpr int kBytes = KeyTile<kHeadDim>::kBytes + ValueTile<kHeadDim>::kBytes +
                                QueryRows<kHeadDim>::kBytes + 2 * kBlockQ * 4;
  static_assert(kBytes == Flash1Shape::shared_bytes(kHeadDim));

  KeyTile<kHeadDim> sK;    // [kBlockKV, kHeadDim]
  ValueTile<kHeadDim> sV;  // [kBlockKV, kHeadDim]
  QueryRows<kHeadDim> sQ;  // [kFlash1Warps, kHeadDim]
  Statistics statistics;   // [kBlockQ] each

  __device__ explicit Flash1Tiles(unsigned char* memory) {
    sK.data = reinterpret_cast<float*>(memory);
    sV.data = sK.data + KeyTile<kHeadDim>::kBytes / 4;
    sQ.data = sV.data + ValueTile<kHeadDim>::kBytes / 4;
    statistics.row_max = sQ.data + QueryRows<kHeadDim>::kBytes / 4;
    statistics.row_sum = statistics.row_max + kBlockQ;
  }
};

/// Initialises O, and m and l, which have fewer elements; one element of O per thread.
__global__ void __launch_bounds__(kStartThreads)
    flash1_start_kernel(ForwardArguments<float> arguments, Statistics statistics,
                        std::int64_t num_queries) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kStartThreads + threadIdx.x;
  const Sizes& sizes = arguments.sizes;
  if (index < num_queries) {
    statistics.row_max[index] = -INFINITY;
    statistics.row_sum[index] = 0;
  }
  const std::int64_t query = index / sizes.head_dim, c = index % sizes.head_dim;
  if (query >= num_queries) return;
  const Place place = place_of(query, sizes.seqlen_q, sizes);
  arguments.O.row(place.b, place.h, place.part)[c * arguments.O.column_stride] = 0;
}

/// Copies m and l of a tile's queries, with one thread for each number.
__device__ __forceinline__ void copy_statistics(const Statistics& to, const Statistics& from,
                                                int num_queries) {
  static_assert(kFlash1Threads == 2 * kBlockQ);
  const int thread = static_cast<int>(threadIdx.x), query = thread % kBlockQ;
  if (query >= num_queries) return;
  if (thread < kBlockQ) {
    to.row_max[query] = from.row_max[query];
  } else {
    to.row_sum[query] = from.row_sum[query];
  }
}

/// The score of the lane's key for a query whose row is in shared memory. `sK`: the key's row,
/// whose column c is at c ^ permutation.
template <int kHeadDim>
__device__ __forceinline__ float score(const float* sQ, const float* sK, int permutation,
                                       float softmax_scale) {
  float sum = 0;
#pragma unroll 4
  for (int c = 0; c < kHeadDim; c += 4) {
    const float4 q = *reinterpret_cast<const float4*>(sQ + c);
    const float4 k = *reinterpret_cast<const float4*>(sK + (c ^ permutation));
    sum = fmaf(q.x, k.x, sum);
    sum = fmaf(q.y, k.y, sum);
    sum = fmaf(q.z, k.z, sum);
    sum = fmaf(q.w, k.w, sum);
  }
  return score_of(softmax_scale * sum);
}

/// Steps 2 to 4 for one query and the keys begin … end - 1 of the tile. Reads and writes O in global
/// memory; Q's row, m and l are in shared memory.
template <int kHeadDim>
__device__ __forceinline__ void attend_to_tile(const HeadRows<float>& mO, int i, int begin, int end,
                                               float softmax_scale,
                                               const Flash1Tiles<kHeadDim>& tiles, const float* sQ,
                                               float& row_max, float& row_sum) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  static_assert(KeyTile<kHeadDim>::kPermuted == 8);
  // 2. S.
  const bool is_visible = begin <= lane && lane < end;
  const float s =
      is_visible ? score<kHeadDim>(sQ, tiles.sK.data + lane * kHeadDim, lane % 8 * 4, softmax_scale)
                 : -INFINITY;
  // 3. m', P and l'.
  const float old_max = row_max;
  const float new_max = fmaxf(old_max, warp_max(s)), shift = shift_of(new_max);
  const float p = expf(s - shift), weight = row_sum * expf(old_max - shift);
  const float new_sum = weight + warp_sum(p);

  // 4. O, m and l.
  WarpRow<kHeadDim> o =
      load_row<kHeadDim>({mO.head, mO.row_stride, mO.column_stride, mO.head_dim}, i);
  scale_and_add(o, weight, 0.f, {});
  for (int j = begin; j < end; ++j) {
    scale_and_add(o, 1.f, __shfl_sync(kAllLanes, p, j),
                  load_row<kHeadDim>({tiles.sV.data, kHeadDim, 1, kHeadDim}, j));
  }
  store_row(normalised(o, new_sum), mO, i);
  __syncwarp();
  if (lane == 0) {
    row_max = new_max;
    row_sum = new_sum;
  }
}

template <int kHeadDim>
__global__ void __launch_bounds__(kFlash1Threads)
    flash1_kernel(ForwardArguments<float> arguments, Statistics statistics, int num_q_tiles,
                  int first_key) {
  // The block's queries. Return if they see no key of the tile.
  const Sizes& sizes = arguments.sizes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const Place place = place_of(blockIdx.x, num_q_tiles, sizes);
  const int first_query = place.part * kBlockQ,
            end_query = min(first_query + kBlockQ, sizes.seqlen_q);
  const VisibleKeys visible = arguments.mask.of_batch_entry(place.b, sizes);
  if (visible.of_query(end_query - 1) <= first_key ||
      visible.first_of_query(first_query) >= first_key + kBlockKV) {
    return;
  }

  // 1. Load K, V, m and l.
  const Flash1Tiles<kHeadDim> tiles(ptx::shared_memory());
  load_tile<kFlash1Threads>(
      tiles.sK, global_rows(arguments.K, place.b, place.kv_head, first_key, visible.keys,
                            sizes.head_dim, arguments.K.has_aligned_rows(sizes.head_dim)));
  load_tile<kFlash1Threads>(
      tiles.sV, global_rows(arguments.V, place.b, place.kv_head, first_key, visible.keys,
                            sizes.head_dim, arguments.V.has_aligned_rows(sizes.head_dim)));
  ptx::cp_async_commit();
  const std::int64_t at =
      (std::int64_t{place.b} * sizes.num_heads + place.h) * sizes.seqlen_q + first_query;
  const Statistics mStatistics = {statistics.row_max + at, statistics.row_sum + at};
  copy_statistics(tiles.statistics, mStatistics, end_query - first_query);
  ptx::cp_async_wait<0>();
  __syncthreads();

  // 2 to 4, for each query of the warp.
  const auto mQ = head_rows(arguments.Q, place.b, place.h, sizes.head_dim);
  const auto mO = head_rows(arguments.O, place.b, place.h, sizes.head_dim);
  float* const sQ = tiles.sQ.row(warp);
  for (int i = first_query + warp; i < end_query; i += kFlash1Warps) {
    const int begin = max(visible.first_of_query(i) - first_key, 0),
              end = min(visible.of_query(i) - first_key, kBlockKV);
    if (begin >= end) continue;
    store_row(load_row<kHeadDim>(mQ, i), {sQ, 0, 1, kHeadDim}, 0);
    __syncwarp();
    attend_to_tile<kHeadDim>(mO, i, begin, end, arguments.softmax_scale, tiles, sQ,
                             tiles.statistics.row_max[i - first_query],
                             tiles.statistics.row_sum[i - first_query]);
  }

  // 5. Store m and l.
  __syncthreads();
  copy_statistics(mStatistics, tiles.statistics, end_query - first_query);
}

__global__ void __launch_bounds__(kStartThreads)
    flash1_lse_kernel(ForwardArguments<float> arguments, Statistics statistics,
                      std::int64_t num_queries) {
  const std::int64_t query = std::int64_t{blockIdx.x} * kStartThreads + threadIdx.x;
  if (query >= num_queries) return;
  const Place place = place_of(query, arguments.sizes.seqlen_q, arguments.sizes);
  *arguments.lse.row(place.b, place.h, place.part) =
      logsumexp(statistics.row_max[query], statistics.row_sum[query]);
}

// ------------------------------------------------------------------------------------- launcher

std::int64_t num_queries(const AttentionProblem& problem) {
  return problem.batch * problem.num_heads * problem.seqlen_q;
}

Statistics statistics_in(Workspace& workspace, const AttentionProblem& problem) {
  float* const row_max = workspace.take<float>(num_queries(problem));
  return {row_max, workspace.take<float>(num_queries(problem))};
}

std::size_t flash1_workspace_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  Workspace workspace;
  statistics_in(workspace, problem);
  return workspace.bytes();
}

void launch_flash1(const ForwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const auto arguments = forward_arguments<float>(call);
  Workspace workspace(call.workspace);
  const Statistics statistics = statistics_in(workspace, problem);
  const LaunchShape a_query_each = {ceil_div(num_queries(problem), kStartThreads), kStartThreads};

  launch(call, "flash1_start", flash1_start_kernel,
         {ceil_div(num_queries(problem) * problem.head_dim, kStartThreads), kStartThreads},
         arguments, statistics, num_queries(problem));
  const int num_q_tiles = static_cast<int>(ceil_div(problem.seqlen_q, kBlockQ));
  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    const LaunchShape shape = {problem.batch * problem.num_heads * num_q_tiles, kFlash1Threads,
                               static_cast<std::size_t>(Flash1Tiles<kHeadDim>::kBytes)};
    for (int first_key = 0; first_key < problem.seqlen_k; first_key += kBlockKV) {
      launch(call, "flash1", flash1_kernel<kHeadDim>, shape, arguments, statistics, num_q_tiles,
             first_key);
    }
  });
  if (arguments.lse.data != nullptr) {
    launch(call, "flash1_lse", flash1_lse_kernel, a_query_each, arguments, statistics,
           num_queries(problem));
  }
}

}  // namespace

extern const KernelRow flash1;
const KernelRow flash1 = {listed("flash1"), launch_flash1, nullptr, flash1_workspace_bytes};

}  // namespace flashlab::cuda
