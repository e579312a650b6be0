// The block of a K/V tile in the tensor-core backward pass: computes dK and dV of the tile and, if
// requested, its part of dQ.
//
//   1  find the keys of the tile, and the queries that see them
//   for each query head of the kv head, each query tile i that sees the tile:
//     2  wait for Qi and dOi; start loading the next ones
//     3  dQ += dS K of the previous query tile (after step 4 of the same tile if scores are shared)
//     4  S^T = K Qi^T,  P^T = e^(scale S^T - lse),  dP^T = V dOi^T,  dS^T = P^T o (dP^T - delta)
//        dV += P^T dOi,  dK += dS^T Qi
//   5  dK = scale dK;  write dK and dV
//
// The rows of S^T are keys, so that P^T and dS^T are in registers in the layout of the next
// products. Only dS goes through shared memory, because dQ sums over the keys of all warps.
//
// Tiles    sK, sV [kBlockKV, kHeadDim] stay in shared memory; sQ, sdO [kBlockQ, kHeadDim] change
//          with each query tile, kStages of each; sdS [kBlockKV, kBlockQ] has as many stages: with
//          two, one barrier per query tile is enough; S^T, dP^T (kWarpChunk queries at a time), dK,
//          dV, dQ are in registers
// Warps    S^T, dP^T, dV, dK: kWarpKeys keys each. If there are more warps than that needs, several
//          share keys: each computes its part of P^T and dS^T, which then go through shared memory,
//          and its columns of dV and dK. dQ: kWarpsQ x the rest, queries x columns
// dQ       is summed in fp32 in the order of the fragments, so that each addition of a warp is one
//          line of 128 bytes: [batch, num_heads, q tile][warp][element][lane]
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/backward_mma.cuh"
#include "attention_cuda/device/key_tile/config.cuh"
#include "attention_cuda/device/key_tile/lane_places.cuh"
#include "attention_cuda/device/key_tile/query_walk.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/ptx/cp_async.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// The work of one block.
template <class Config>
class KeyTileBlock {
  using TensorCore = typename Config::TensorCore;
  using Element = typename Config::Element;
  using Tiles = KeyTileMemory<Config>;
  using Places = KeyTilePlaces<Config>;
  using Scores = WarpSums<Config::kRowTiles, Config::kWarpChunk / 8>;
  static constexpr int kChunkElements = Config::KeyTile::kChunkElements;
  static constexpr bool kKeepsStatistics = !TensorCore::kSplitsValues || Config::kStages == 1;
  using KeyGradients = WarpSums<Config::kRowTiles, Config::kWarpColumns / 8>;

 public:
  __device__ __forceinline__ KeyTileBlock(const BackwardArguments<Element>& arguments,
                                          const float* delta, float* dQ_sums, bool is_aligned)
      : arguments_(arguments),
        delta_(delta),
        dQ_sums_(dQ_sums),
        is_aligned_(is_aligned),
        places_(tiles_) {
    unsigned char* memory = ptx::shared_memory() + Tiles::kBytes;
    const auto take = [&](int bytes) {
      unsigned char* const array = memory;
      memory += bytes;
      return array;
    };
    lse_log2_ = reinterpret_cast<float*>(take(Config::kStages * Config::kBlockQ * 4));
    stage_delta_ = reinterpret_cast<float*>(take(Config::kStages * Config::kBlockQ * 4));
    ranges_ = reinterpret_cast<IndexRange*>(take(Config::kStages * Config::kBlockQ * 8));
    facts_ = reinterpret_cast<KeyTileFacts*>(take(Config::kFactsBytes));
    static_assert(sizeof(KeyTileFacts) <= Config::kFactsBytes);
  }

  /// The kernel: computes dK and dV of the block's keys, and adds their contribution to dQ_sums.
  __device__ __forceinline__ void run() {
    const int end_key = find_facts();
    KeyGradients dK, dV;
    set_to_zero(dK);
    set_to_zero(dV);
    if (facts_->first_key < end_key && facts_->first_query < facts_->end_query) {
      load_keys(end_key);
      walk_queries(dK, dV);
    }
    write_gradients(dK, dV);
  }

 private:
  /// 1. Finds the keys and the queries that see them. Returns the end of the keys that
  /// any query sees.
  __device__ __forceinline__ int find_facts() const {
    const Sizes& sizes = arguments_.sizes;
    const int num_tiles = static_cast<int>(ceil_div(sizes.seqlen_k, Config::kBlockKV));
    const Place place = place_of_kv(blockIdx.x, num_tiles, sizes);
    const VisibleKeys visible = arguments_.mask.of_batch_entry(place.b, sizes);
    const int first_key = place.part * Config::kBlockKV;
    if (threadIdx.x == 0) {
      const int last_key = min(first_key + Config::kBlockKV, visible.keys) - 1;
      const int end_query = min(visible.end_query(last_key), sizes.seqlen_q);
      *facts_ = {place.b,
                 place.h,
                 first_key,
                 visible.first_query(first_key) / Config::kBlockQ * Config::kBlockQ,
                 static_cast<int>(ceil_div(end_query, Config::kBlockQ)) * Config::kBlockQ,
                 visible.first_query(0),
                 min(visible.end_query(visible.keys - 1), sizes.seqlen_q),
                 static_cast<int>(ceil_div(sizes.seqlen_q, Config::kBlockQ)),
                 visible};
    }
    __syncthreads();
    return sizes.seqlen_q == 0 ? 0 : visible.of_query(sizes.seqlen_q - 1);
  }
  __device__ __forceinline__ QueryWalk<Config> walk() const { return {arguments_.sizes, *facts_}; }
  /// As with places: kept, unless no register is left for it.
  __device__ __forceinline__ int stage_of(const WalkPlace& at, int kept_stage) const {
    return Places::kKeepsPlaces ? kept_stage : walk().stage_of(at);
  }
  static __device__ __forceinline__ int warp() { return Places::warp(); }
  static __device__ __forceinline__ int warp_first_key() { return Places::first_key(); }
  static __device__ __forceinline__ int warp_first_column() { return Places::first_column(); }

  __device__ __forceinline__ void load_keys(int end_key) const {
    const auto rows = [&](const DeviceTensor<const Element>& tensor) {
      return global_rows(tensor, facts_->b, facts_->kv_head, facts_->first_key, end_key,
                         arguments_.sizes.head_dim, is_aligned_);
    };
    // Keys that no query sees count as 0, because they may contain anything.
    const int num_unseen = facts_->visible.first_of_query(0) - facts_->first_key;
    if (num_unseen > 0) {
      load_tile_from_row<Config::kNumThreads>(tiles_.K(), rows(arguments_.K), num_unseen);
      load_tile_from_row<Config::kNumThreads>(tiles_.V(), rows(arguments_.V), num_unseen);
      return;
    }
    load_tile<Config::kNumThreads>(tiles_.K(), rows(arguments_.K));
    load_tile<Config::kNumThreads>(tiles_.V(), rows(arguments_.V));
  }

  /// Loads a tile of Q and dO. Rows of queries that see no key count as 0, because they may contain
  /// anything. Stores the range of one query, and returns its statistics for put_statistics: later,
  /// when they have come, unless there are no registers to keep them.
  __device__ __forceinline__ QueryStatistics load_queries(const WalkPlace& at, int stage) const {
    const int first = at.query, b = facts_->b, first_seeing = facts_->first_seeing;
    const auto rows = [&, end = facts_->end_seeing](const DeviceTensor<const Element>& tensor) {
      return global_rows(tensor, b, at.head, first, end, arguments_.sizes.head_dim, true);
    };
    const auto to_Q = tiles_.Q(stage), to_dO = tiles_.dO(stage);
    if (is_aligned_ && first >= first_seeing) {
      load_tile<Config::kNumThreads>(to_Q, rows(arguments_.Q));
      load_tile<Config::kNumThreads>(to_dO, rows(arguments_.dO));
    } else {  // rare cases share one path, which keeps the loop short
      load_tile_from_row<Config::kNumThreads>(to_Q, rows(arguments_.Q), first_seeing - first);
      load_tile_from_row<Config::kNumThreads>(to_dO, rows(arguments_.dO), first_seeing - first);
    }
    ptx::cp_async_commit();
    if (threadIdx.x >= Config::kBlockQ) return {};
    const IndexRange range = facts_->visible.range_of_query(first + static_cast<int>(threadIdx.x));
    ranges_[stage * Config::kBlockQ + threadIdx.x] = {range.first - facts_->first_key,
                                                      range.end - facts_->first_key};
    return load_statistics(arguments_, delta_, facts_->b, at.head,
                           first + static_cast<int>(threadIdx.x));
  }

  __device__ __forceinline__ void put_statistics(const QueryStatistics& statistics,
                                                 int stage) const {
    if (threadIdx.x >= Config::kBlockQ) return;
    lse_log2_[stage * Config::kBlockQ + threadIdx.x] = statistics.lse_log2;
    stage_delta_[stage * Config::kBlockQ + threadIdx.x] = statistics.delta;
  }

  __device__ __forceinline__ void walk_queries(KeyGradients& dK, KeyGradients& dV) {
    WalkPlace at = walk().first();
    int kept_stage = walk().stage_of(at);
    if constexpr (Config::kStages == 2) put_statistics(load_queries(at, kept_stage), kept_stage);
    for (; walk().is_there(at); at = walk().settled(at)) {
      const int stage = stage_of(at, kept_stage);
      QueryStatistics statistics = {};

      // 2. Wait for this tile's Q and dO, and for the previous dS; start loading the next tile.
      if constexpr (Config::kStages == 2) {
        ptx::cp_async_wait<0>();
        __syncthreads();
        const WalkPlace following = walk().next(at);
        if (walk().is_there(following)) statistics = load_queries(following, 1 - stage);
        if (!kKeepsStatistics) put_statistics(statistics, 1 - stage);
      } else {
        __syncthreads();
        statistics = load_queries(at, 0);
      }

      // 3. dQ of the previous tile.
      if constexpr (Config::kWithDQ && !Config::kSharesScores) {
        if (!walk().is_first(at)) add_dQ(Config::kStages - 1 - stage, walk().previous_dQ_tile(at));
      }
      if (kKeepsStatistics) put_statistics(statistics, Config::kStages - 1 - stage);
      if constexpr (Config::kStages == 1) {
        ptx::cp_async_wait<0>();
        __syncthreads();
      }

      // 4. dV and dK.
      if constexpr (Config::kSharesScores) {
        add_shared_tile(dK, dV, at, kept_stage);
        at.query += Config::kBlockQ;
      } else {
#pragma unroll 1
        do {
          add_chunk(dK, dV, at, kept_stage);
          at.query += Config::kWarpChunk;
        } while (at.query % Config::kBlockQ != 0);
      }
      if (Config::kStages == 2) kept_stage = 1 - kept_stage;
    }
    if constexpr (Config::kWithDQ && !Config::kSharesScores) {
      __syncthreads();
      add_dQ(Config::kStages - 1 - stage_of(at, kept_stage), walk().previous_dQ_tile(at));
    }
  }

  /// Computes P^T and dS^T of the warp's keys and kWarpChunk queries from at.query on. Returns
  /// false and leaves them unset if all pairs are hidden.
  __device__ __forceinline__ bool score(Scores& S, Scores& dP, const WalkPlace& at,
                                        int stage) const {
    const int q = at.query % Config::kBlockQ;  // within its tile
    const float scale_log2 = arguments_.softmax_scale * kLog2E;
    const int key = warp_first_key();  // as in the ranges, from the first of the tile
    const IndexRange* const ranges = ranges_ + stage * Config::kBlockQ + q;
    const IndexRange first_range = ranges[0], last_range = ranges[Config::kWarpChunk - 1];
    if (key >= last_range.end || key + Config::kWarpKeys <= first_range.first) return false;
    const bool is_edge = key + Config::kWarpKeys > first_range.end || key < last_range.first;

    multiply_rows<TensorCore>(S, places_.rows_of_K(), places_.rows_of_Q(stage, q));
    multiply_rows<TensorCore>(dP, places_.rows_of_V(), places_.rows_of_dO(stage, q));
    const float* const lse_log2 = lse_log2_ + stage * Config::kBlockQ + q;
    const float* const delta = stage_delta_ + stage * Config::kBlockQ + q;
    if (is_edge) {
      weigh_keys<true>(S, dP, lse_log2, delta, scale_log2, ranges, key, Places::lane());
    } else {
      weigh_keys<false>(S, dP, lse_log2, delta, scale_log2, ranges, key, Places::lane());
    }
    return true;
  }

  /// dV += P^T dO and dK += dS^T Q for kWarpChunk queries from at.query on. Stores dS^T
  /// to shared memory.
  __device__ __forceinline__ void add_chunk(KeyGradients& dK, KeyGradients& dV, const WalkPlace& at,
                                            int kept_stage) const {
    const int q = at.query % Config::kBlockQ;
    const int stage = stage_of(at, kept_stage);
    const auto put_dS = [&](const Scores& dS) {
      if (Config::kWithDQ && warp() < Config::kKeyWarps) put_sums(places_.sums_of_dS(stage), q, dS);
    };
    Scores S, dP;
    const bool is_visible = score(S, dP, at, stage);
    if (!is_visible) set_to_zero(dP);
    // A path of its own: otherwise zeros would be set before each product.
    if constexpr (Places::kKeepsPlaces) {
      if (!is_visible) return put_dS(dP);
    }
    put_dS(dP);
    if (!is_visible) return;
    multiply_sums<TensorCore>(dV, S, places_.columns_of_dO(stage, q));
    multiply_sums<TensorCore>(dK, dP, places_.columns_of_Q(stage, q));
  }

  /// Does the same for a query tile, and dQ. Warps that share keys each compute P^T and dS^T of
  /// their part of the queries, and use all of them for their columns of dV and dK.
  __device__ __forceinline__ void add_shared_tile(KeyGradients& dK, KeyGradients& dV,
                                                  const WalkPlace& at, int kept_stage) const {
    const int stage = stage_of(at, kept_stage);
    {
      const int q = warp() / Config::kKeyWarps * Config::kWarpChunk;
      const auto put = [&](const Scores& P, const Scores& dS) {
        put_sums(places_.sums_of_P(), q, P);
        put_sums(places_.sums_of_dS(0), q, dS);
      };
      Scores S, dP;
      if (score(S, dP, {at.head, at.query + q}, stage)) {
        put(S, dP);
      } else {
        set_to_zero(S);
        put(S, S);
      }
    }
    __syncthreads();
    multiply_tiles<TensorCore>(dV, places_.rows_of_P(), places_.columns_of_dO(stage, 0));
    multiply_tiles<TensorCore>(dK, places_.rows_of_dS(), places_.columns_of_Q(stage, 0));
    if constexpr (Config::kWithDQ) add_dQ(0, walk().dQ_tile_of(at));
  }

  __device__ __forceinline__ void add_dQ(int gradient_tile, int dQ_tile) const {
    const int warp = KeyTileBlock::warp();
    const int first_query = warp / Config::kWarpsD * Config::kWarpQueriesDQ;
    const int first_column = warp % Config::kWarpsD * Config::kWarpColumnsDQ;
    WarpSums<Config::kWarpQueriesDQ / 16, Config::kWarpColumnsDQ / 8> dQ;
    auto dS = places_.columns_of_dS(gradient_tile);
    auto K = places_.columns_of_K();
    dS.skip_chunks(first_query / kChunkElements);
    K.skip_chunks(first_column / kChunkElements);
    multiply_columns<TensorCore, Config::kBlockKV>(dQ, dS, K);

    constexpr int kWarpElements = Config::kTileElements / Config::kWarps;
    float* to = dQ_sums_ + static_cast<std::int64_t>(dQ_tile) * Config::kTileElements +
                (warp * kWarpElements + new_lane_id());
#pragma unroll
    for (int m = 0; m < Config::kWarpQueriesDQ / 16; ++m) {
#pragma unroll
      for (int n = 0; n < Config::kWarpColumnsDQ / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          atomicAdd(to, dQ[m][n][i]);
          to += 32;
        }
      }
    }
  }

  /// 5. Writes dK and dV in rows, through the tiles of K and V.
  __device__ __forceinline__ void write_gradients(const KeyGradients& dK, const KeyGradients& dV) {
    __syncthreads();
    put_sums(tiles_.K(), warp_first_key(), warp_first_column(), dK, arguments_.softmax_scale);
    put_sums(tiles_.V(), warp_first_key(), warp_first_column(), dV);
    __syncthreads();
    constexpr int kRows = Config::kBlockKV / Config::kWarps;
    static_assert(kRows % 8 == 0);
    const auto rows = [&](const DeviceTensor<Element>& tensor) {
      return global_rows(tensor, facts_->b, facts_->kv_head, facts_->first_key + warp() * kRows,
                         arguments_.sizes.seqlen_k, arguments_.sizes.head_dim, is_aligned_);
    };
    store_rows(rows_from<kRows>(tiles_.K(), warp() * kRows), rows(arguments_.dK));
    store_rows(rows_from<kRows>(tiles_.V(), warp() * kRows), rows(arguments_.dV));
  }

  const BackwardArguments<Element>& arguments_;
  const float* const delta_;
  float* const dQ_sums_;
  const bool is_aligned_;
  Tiles tiles_;
  Places places_;
  float *lse_log2_, *stage_delta_;  // [kStages][kBlockQ]
  IndexRange* ranges_;              // [kStages][kBlockQ]
  KeyTileFacts* facts_;
};

}  // namespace flashlab::cuda
