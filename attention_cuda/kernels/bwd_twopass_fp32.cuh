// One block computes dQ of a query tile; the algorithm is in bwd_twopass_fp32.cu.
#pragma once

#include "attention_cuda/device/backward_fp32.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

template <class Config>
struct QueryPassMemory {
  static constexpr int kBytes = 3 * Config::KeyTile::kBytes + 2 * Config::QueryTile::kBytes +
                                Config::WeightTile::kBytes +
                                SharedStatistics<Config::kBlockQ>::kBytes;
  static_assert(kBytes <= Config::kMaxSharedBytes, "the query pass fits the shared memory");
  static_assert(kBytes == Config::kShape.query_pass_bytes());

  typename Config::QueryTile sQ, sdO;            // [kBlockQ, kHeadDim]
  float* both_sK;                                // two of [kBlockKV, kHeadDim]
  typename Config::KeyTile sV;                   // [kBlockKV, kHeadDim]
  typename Config::WeightTile sdS;               // [kBlockQ, kBlockKV]; P before dS
  SharedStatistics<Config::kBlockQ> statistics;  // [kBlockQ]

  __device__ explicit QueryPassMemory(unsigned char* memory) {
    const auto floats = [&memory](int bytes) {
      float* const array = reinterpret_cast<float*>(memory);
      memory += bytes;
      return array;
    };
    sQ.data = floats(Config::QueryTile::kBytes);
    sdO.data = floats(Config::QueryTile::kBytes);
    both_sK = floats(2 * Config::KeyTile::kBytes);
    sV.data = floats(Config::KeyTile::kBytes);
    sdS.data = floats(Config::WeightTile::kBytes);
    statistics.data = reinterpret_cast<StatisticsAndLimits*>(memory);
  }

  __device__ typename Config::KeyTile sK(int kv_tile) const {
    return {both_sK + kv_tile % 2 * (Config::kBlockKV * Config::kHeadDim)};
  }
};

template <class Config>
__device__ __forceinline__ void load_queries_of_pass(const BackwardArguments<float>& arguments,
                                                     const Place& place, int q_begin,
                                                     const QueryPassMemory<Config>& shared) {
  const int head_dim = arguments.sizes.head_dim, seqlen_q = arguments.sizes.seqlen_q;
  const DeviceTensor<const float>&mQ = arguments.Q, &mdO = arguments.dO;
  load_tile<Config::kNumThreads>(shared.sQ, global_rows(mQ, place.b, place.h, q_begin, seqlen_q,
                                                        head_dim, mQ.has_aligned_rows(head_dim)));
  load_tile<Config::kNumThreads>(shared.sdO, global_rows(mdO, place.b, place.h, q_begin, seqlen_q,
                                                         head_dim, mdO.has_aligned_rows(head_dim)));
}

template <class Config>
__device__ __forceinline__ void load_keys_of_pass(const BackwardArguments<float>& arguments,
                                                  const Place& place, int kv_tile, int kv_begin,
                                                  int keys, const QueryPassMemory<Config>& shared) {
  const int head_dim = arguments.sizes.head_dim;
  const DeviceTensor<const float>&mK = arguments.K, &mV = arguments.V;
  load_tile<Config::kNumThreads>(shared.sK(kv_tile),
                                 global_rows(mK, place.b, place.kv_head, kv_begin, keys, head_dim,
                                             mK.has_aligned_rows(head_dim)));
  load_tile<Config::kNumThreads>(shared.sV, global_rows(mV, place.b, place.kv_head, kv_begin, keys,
                                                        head_dim, mV.has_aligned_rows(head_dim)));
  ptx::cp_async_commit();
}

/// delta: see query_statistics.
template <class Config, class Delta>
__device__ __forceinline__ void query_pass(const BackwardArguments<float>& arguments,
                                           const Delta& delta) {
  constexpr int kBlockQ = Config::kBlockQ, kBlockKV = Config::kBlockKV;
  const Sizes& sizes = arguments.sizes;
  const int num_q_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, kBlockQ));
  const Place place = place_of(blockIdx.x, num_q_tiles, sizes);
  const int q_begin = (num_q_tiles - 1 - place.part) * kBlockQ;
  const VisibleKeys visible = arguments.mask.of_batch_entry(place.b, sizes);
  const int begin_key = visible.first_of_query(q_begin),
            end_key = visible.of_query(min(q_begin + kBlockQ, sizes.seqlen_q) - 1);
  const int num_kv_tiles = static_cast<int>(ceil_div(end_key - begin_key, kBlockKV));
  const QueryPassMemory<Config> shared(ptx::shared_memory());

  const int thread = static_cast<int>(threadIdx.x);
  const bool is_other_half = thread >= Config::kHalfThreads;
  const typename Config::WeightGrid weight_grid(thread % Config::kHalfThreads);
  const typename Config::QueryGrid query_grid(thread);
  typename Config::QueryGrid::Sums rdQ = {};  // the thread's part of [kBlockQ, kHeadDim]

  if (num_kv_tiles > 0) {
    load_queries_of_pass<Config>(arguments, place, q_begin, shared);
    load_keys_of_pass<Config>(arguments, place, 0, begin_key, visible.keys, shared);
    if (thread < kBlockQ) {
      shared.statistics.put(query_statistics(arguments, delta, place.b, place.h, q_begin + thread),
                            visible, q_begin);
    }
  }
  for (int j = 0; j < num_kv_tiles; ++j) {
    const int kv_begin = begin_key + j * kBlockKV;
    ptx::cp_async_wait<0>();
    __syncthreads();
    const bool hides_some = shared.statistics.hide_some(kv_begin, kv_begin + kBlockKV);

    // 1, 2: S and P; in the other half of the threads, dP.
    typename Config::WeightGrid::Sums weights = {};  // S; in the other half, dP
    add_product_nt(weight_grid, is_other_half ? shared.sdO : shared.sQ,
                   is_other_half ? shared.sV : shared.sK(j), weights);
    if (!is_other_half) {
      store_P(weight_grid, weights, shared.statistics, kv_begin, hides_some,
              arguments.softmax_scale * kLog2E, shared.sdS);
    }
    __syncthreads();

    // 3: dS, while the next keys are loaded.
    if (j + 1 < num_kv_tiles) {
      load_keys_of_pass<Config>(arguments, place, j + 1, kv_begin + kBlockKV, visible.keys, shared);
    }
    if (is_other_half) {
      store_dS(weight_grid, weights, shared.statistics, kv_begin, hides_some, shared.sdS,
               shared.sdS);
    }
    __syncthreads();

    // 4: dQ.
    if (hides_some) {
      add_product_nn<true>(query_grid, shared.sdS, shared.sK(j), rdQ);
    } else {
      add_product_nn<false>(query_grid, shared.sdS, shared.sK(j), rdQ);
    }
  }

  store_single_rows(query_grid, rdQ, arguments.softmax_scale,
                    global_rows(arguments.dQ, place.b, place.h, q_begin, sizes.seqlen_q,
                                sizes.head_dim, arguments.dQ.has_aligned_rows(sizes.head_dim)));
}

}  // namespace flashlab::cuda
