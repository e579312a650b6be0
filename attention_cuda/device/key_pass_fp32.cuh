// One block computes dK and dV of a K/V tile, and the tile's contribution to dQ.
//
//   dK = 0, dV = 0
//   for each query head of the kv head, each query tile i that sees the tile:
//                                 half the threads         the other half
//     1                           S = Qi K^T               dP = dOi V^T
//     2                           P = exp(scale S - lse)
//     3                                                    dS = P o (dP - delta)
//     4                           dV += P^T dOi            dK += dS^T Qi
//     5 (kAddsdQ)   all:  dQi += scale dS K, by atomic additions
//   dK = scale dK
//
// Tiles    sK, sV [kBlockKV, kHeadDim] stay in shared memory; sQ, sdO [kBlockQ, kHeadDim] change
//          with each query tile, and the next ones are loaded during step 5; sP, sdS [kBlockQ,
//          kBlockKV]; S, dP, dK, dV in registers
// NaN      in a tile with hidden pairs, their weights are not multiplied
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/backward_fp32.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/ptx/red.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

template <class Config>
struct KeyPassMemory {
  static constexpr int kBytes = 2 * Config::KeyTile::kBytes + 2 * Config::QueryTile::kBytes +
                                2 * Config::WeightTile::kBytes +
                                SharedStatistics<Config::kBlockQ>::kBytes;
  static_assert(kBytes <= Config::kMaxSharedBytes, "the key pass fits the shared memory");
  static_assert(kBytes == Config::kShape.key_pass_bytes());

  typename Config::KeyTile sK, sV;               // [kBlockKV, kHeadDim]
  typename Config::QueryTile sQ, sdO;            // [kBlockQ, kHeadDim]
  typename Config::WeightTile sP, sdS;           // [kBlockQ, kBlockKV]
  SharedStatistics<Config::kBlockQ> statistics;  // [kBlockQ]

  __device__ explicit KeyPassMemory(unsigned char* memory) {
    const auto floats = [&memory](int bytes) {
      float* const array = reinterpret_cast<float*>(memory);
      memory += bytes;
      return array;
    };
    sK.data = floats(Config::KeyTile::kBytes);
    sV.data = floats(Config::KeyTile::kBytes);
    sQ.data = floats(Config::QueryTile::kBytes);
    sdO.data = floats(Config::QueryTile::kBytes);
    sP.data = floats(Config::WeightTile::kBytes);
    sdS.data = floats(Config::WeightTile::kBytes);
    statistics.data = reinterpret_cast<StatisticsAndLimits*>(memory);
  }
};

/// The query tiles that see a K/V tile, for all heads in order.
struct QueryTiles {
  int first_head, first_tile, tiles_per_head, count;

  __device__ QueryTiles(const Place& place, const VisibleKeys& visible, int kv_begin, int block_kv,
                        int block_q, const Sizes& sizes)
      : first_head(place.kv_head * sizes.heads_per_kv_head),
        first_tile(visible.first_query(kv_begin) / block_q),
        tiles_per_head(max(0, end_tile(visible, kv_begin, block_kv, block_q, sizes) - first_tile)),
        count(tiles_per_head * sizes.heads_per_kv_head) {}

  __device__ int head(int m) const { return first_head + m / tiles_per_head; }
  __device__ int tile(int m) const { return first_tile + m % tiles_per_head; }

 private:
  static __device__ int end_tile(const VisibleKeys& visible, int kv_begin, int block_kv,
                                 int block_q, const Sizes& sizes) {
    const int end_query = visible.end_query(min(kv_begin + block_kv, visible.keys) - 1);
    return static_cast<int>(ceil_div(min(end_query, sizes.seqlen_q), block_q));
  }
};

/// Starts the copies of K and V.
template <class Config>
__device__ __forceinline__ void load_keys(const BackwardArguments<float>& arguments, int b,
                                          int kv_head, int kv_begin, int keys,
                                          const KeyPassMemory<Config>& shared) {
  const int head_dim = arguments.sizes.head_dim;
  const DeviceTensor<const float>&mK = arguments.K, &mV = arguments.V;
  load_tile<Config::kNumThreads>(shared.sK, global_rows(mK, b, kv_head, kv_begin, keys, head_dim,
                                                        mK.has_aligned_rows(head_dim)));
  load_tile<Config::kNumThreads>(shared.sV, global_rows(mV, b, kv_head, kv_begin, keys, head_dim,
                                                        mV.has_aligned_rows(head_dim)));
}

/// Starts the copies of Q and dO. Returns the statistics.
template <class Config, class Delta>
__device__ __forceinline__ LoadedStatistics fetch_queries(const BackwardArguments<float>& arguments,
                                                          const Delta& delta, int b, int h,
                                                          int q_begin,
                                                          const KeyPassMemory<Config>& shared) {
  const int head_dim = arguments.sizes.head_dim, seqlen_q = arguments.sizes.seqlen_q;
  const DeviceTensor<const float>&mQ = arguments.Q, &mdO = arguments.dO;
  load_tile<Config::kNumThreads>(
      shared.sQ, global_rows(mQ, b, h, q_begin, seqlen_q, head_dim, mQ.has_aligned_rows(head_dim)));
  load_tile<Config::kNumThreads>(shared.sdO, global_rows(mdO, b, h, q_begin, seqlen_q, head_dim,
                                                         mdO.has_aligned_rows(head_dim)));
  ptx::cp_async_commit();
  if (threadIdx.x >= Config::kBlockQ) return {};
  return query_statistics(arguments, delta, b, h, q_begin + static_cast<int>(threadIdx.x));
}

/// Step 5.
template <class Config>
__device__ __forceinline__ void add_dQ(const BackwardArguments<float>& arguments, int b, int h,
                                       int q_begin, bool hides_some,
                                       const KeyPassMemory<Config>& shared) {
  using Grid = typename Config::QueryGrid;
  const Grid grid(static_cast<int>(threadIdx.x));
  typename Grid::Sums rdQ = {};
  if (hides_some) {
    add_product_nn<true>(grid, shared.sdS, shared.sK, rdQ);
  } else {
    add_product_nn<false>(grid, shared.sdS, shared.sK, rdQ);
  }
  const int head_dim = arguments.sizes.head_dim;
  const bool is_aligned = arguments.dQ.has_aligned_rows(head_dim);
#pragma unroll
  for (int r = 0; r < Grid::kRows; ++r) {
    const int i = q_begin + grid.single_row(r);
    if (i >= arguments.sizes.seqlen_q) continue;
    float* const gdQ = arguments.dQ.row(b, h, i);
#pragma unroll
    for (int c = 0; c < Grid::kColumns; c += 4) {
      const int column = 4 * grid.column_chunk(c / 4);
      if (column >= head_dim) continue;
      float values[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) values[e] = arguments.softmax_scale * rdQ[r][c + e];
      if (is_aligned) {
        ptx::red_add_4(gdQ + column, values);
        continue;
      }
      for (int e = 0; e < 4 && column + e < head_dim; ++e) {
        atomicAdd(gdQ + (column + e) * arguments.dQ.column_stride, values[e]);
      }
    }
  }
}

/// Steps 1 to 3.
template <class Config>
__device__ __forceinline__ void make_P_and_dS(int kv_begin, bool hides_some,
                                              float softmax_scale_log2,
                                              const KeyPassMemory<Config>& shared) {
  using Grid = typename Config::WeightGrid;
  const bool is_other_half = threadIdx.x >= Config::kHalfThreads;
  const Grid grid(static_cast<int>(threadIdx.x) % Config::kHalfThreads);
  typename Grid::Sums sums = {};  // S; in the other half, dP
  add_product_nt(grid, is_other_half ? shared.sdO : shared.sQ,
                 is_other_half ? shared.sV : shared.sK, sums);
  if (!is_other_half) {
    store_P(grid, sums, shared.statistics, kv_begin, hides_some, softmax_scale_log2, shared.sP);
  }
  __syncthreads();
  if (is_other_half) {
    store_dS(grid, sums, shared.statistics, kv_begin, hides_some, shared.sP, shared.sdS);
  }
  __syncthreads();
}

/// Step 4: gradient is dV; in the other half of the threads, dK.
template <class Config>
__device__ __forceinline__ void add_to_gradient(bool hides_some,
                                                const typename Config::KeyGrid& grid,
                                                const KeyPassMemory<Config>& shared,
                                                typename Config::KeyGrid::Sums& gradient) {
  const bool is_other_half = threadIdx.x >= Config::kHalfThreads;
  const typename Config::WeightTile weights = is_other_half ? shared.sdS : shared.sP;
  const typename Config::QueryTile rows = is_other_half ? shared.sQ : shared.sdO;
  if (hides_some) {
    add_product_tn<true>(grid, weights, rows, gradient);
  } else {
    add_product_tn<false>(grid, weights, rows, gradient);
  }
}

/// delta: see query_statistics.
template <class Config, bool kAddsdQ, class Delta>
__device__ __forceinline__ void key_pass(const BackwardArguments<float>& arguments,
                                         const Delta& delta) {
  constexpr int kBlockQ = Config::kBlockQ, kBlockKV = Config::kBlockKV;
  const Sizes& sizes = arguments.sizes;
  const int head_dim = sizes.head_dim;
  const Place place =
      place_of_kv(blockIdx.x, static_cast<int>(ceil_div(sizes.seqlen_k, kBlockKV)), sizes);
  const int b = place.b, kv_begin = place.part * kBlockKV;
  const VisibleKeys visible = arguments.mask.of_batch_entry(b, sizes);
  const QueryTiles queries(place, visible, kv_begin, kBlockKV, kBlockQ, sizes);
  const KeyPassMemory<Config> shared(ptx::shared_memory());
  const typename Config::KeyGrid key_grid(static_cast<int>(threadIdx.x) % Config::kHalfThreads);
  typename Config::KeyGrid::Sums gradient = {};  // dV; in the other half, dK

  LoadedStatistics next = {};
  if (queries.count > 0) {
    load_keys(arguments, b, place.kv_head, kv_begin, visible.keys, shared);
    next = fetch_queries(arguments, delta, b, queries.head(0), queries.tile(0) * kBlockQ, shared);
  }
  for (int m = 0; m < queries.count; ++m) {
    shared.statistics.put(next, visible, queries.tile(m) * kBlockQ);
    ptx::cp_async_wait<0>();
    __syncthreads();
    const bool hides_some = shared.statistics.hide_some(kv_begin, kv_begin + kBlockKV);
    make_P_and_dS(kv_begin, hides_some, arguments.softmax_scale * kLog2E, shared);
    add_to_gradient(hides_some, key_grid, shared, gradient);
    __syncthreads();
    if (m + 1 < queries.count) {
      next = fetch_queries(arguments, delta, b, queries.head(m + 1), queries.tile(m + 1) * kBlockQ,
                           shared);
    }
    if constexpr (kAddsdQ) {
      add_dQ(arguments, b, queries.head(m), queries.tile(m) * kBlockQ, hides_some, shared);
    }
  }

  const bool is_other_half = threadIdx.x >= Config::kHalfThreads;
  const DeviceTensor<float>& to = is_other_half ? arguments.dK : arguments.dV;
  store_row_chunks(key_grid, gradient, is_other_half ? arguments.softmax_scale : 1.f,
                   global_rows(to, b, place.kv_head, kv_begin, sizes.seqlen_k, head_dim,
                               to.has_aligned_rows(head_dim)));
}

}  // namespace flashlab::cuda
