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
#include "attention_cuda/device/key_tile_config.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/query_walk.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/ptx/cp_async.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// The work of one block.
template <class Config>
class KeyTileBlock {
  using TensorCore = typename Config::TensorCore;
  using Element = typename Config::Element;
  using Scores = WarpSums<Config::kRowTiles, Config::kWarpChunk / 8>;
  static constexpr int kChunkElements = Config::KeyTile::kChunkElements;
  static constexpr bool kKeepsStatistics = !TensorCore::kSplitsValues || Config::kStages == 1;
  using KeyGradients = WarpSums<Config::kRowTiles, Config::kWarpColumns / 8>;

 public:
  __device__ __forceinline__ KeyTileBlock(const BackwardArguments<Element>& arguments,
                                          const float* delta, float* dQ_sums, bool is_aligned)
      : arguments_(arguments), delta_(delta), dQ_sums_(dQ_sums), is_aligned_(is_aligned) {
    unsigned char* memory = ptx::shared_memory();
    const auto take = [&](int bytes) {
      unsigned char* const array = memory;
      memory += bytes;
      return array;
    };
    sK_ = {reinterpret_cast<Element*>(take(Config::KeyTile::kBytes))};
    sV_ = {reinterpret_cast<Element*>(take(Config::KeyTile::kBytes))};
    sQ_ = reinterpret_cast<Element*>(take(Config::kStages * Config::QueryTile::kBytes));
    sdO_ = reinterpret_cast<Element*>(take(Config::kStages * Config::QueryTile::kBytes));
    sdS_ = reinterpret_cast<Element*>(take(Config::kGradientTiles * Config::GradientTile::kBytes));
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
  /// Recomputed at each use: values derived from it would otherwise occupy registers all the time.
  static __device__ __forceinline__ int warp() {
    return static_cast<int>(ptx::opaque(threadIdx.x)) / 32;
  }
  /// Recomputed if values are split in two or scores are shared: then no registers are left for
  /// values derived from the lane.
  static __device__ __forceinline__ int chunk_lane() {
    return TensorCore::kSplitsValues || Config::kSharesScores ? new_lane_id() : lane_id();
  }
  static __device__ __forceinline__ int warp_first_key() {
    return (Config::kColumnWarps == 1 ? warp() : warp() % Config::kKeyWarps) * Config::kWarpKeys;
  }
  static __device__ __forceinline__ int warp_first_column() {
    return Config::kColumnWarps == 1 ? 0 : warp() / Config::kKeyWarps * Config::kWarpColumns;
  }
  __device__ __forceinline__ typename Config::QueryTile query_tile(Element* tiles,
                                                                   int stage) const {
    return {tiles + stage * Config::QueryTile::kRows * Config::QueryTile::kColumns};
  }
  __device__ __forceinline__ typename Config::GradientTile gradient_tile(int index) const {
    return {sdS_ + index % max(Config::kGradientTiles, 1) * Config::kBlockKV * Config::kBlockQ};
  }

  __device__ __forceinline__ void load_keys(int end_key) const {
    const auto rows = [&](const DeviceTensor<const Element>& tensor) {
      return global_rows(tensor, facts_->b, facts_->kv_head, facts_->first_key, end_key,
                         arguments_.sizes.head_dim, is_aligned_);
    };
    // Keys that no query sees count as 0, because they may contain anything.
    const int num_unseen = facts_->visible.first_of_query(0) - facts_->first_key;
    if (num_unseen > 0) {
      load_tile_from_row<Config::kNumThreads>(sK_, rows(arguments_.K), num_unseen);
      load_tile_from_row<Config::kNumThreads>(sV_, rows(arguments_.V), num_unseen);
      return;
    }
    load_tile<Config::kNumThreads>(sK_, rows(arguments_.K));
    load_tile<Config::kNumThreads>(sV_, rows(arguments_.V));
  }

  /// Loads a tile of Q and dO. Rows of queries that see no key count as 0, because they may contain
  /// anything. Stores the range of one query, and returns its statistics for put_statistics: later,
  /// when they have come, unless there are no registers to keep them.
  __device__ __forceinline__ QueryStatistics load_queries(const WalkPlace& at, int stage) const {
    const int first = at.query;
    const auto load = [&](Element* to, const DeviceTensor<const Element>& tensor) {
      // Rare cases share one path, which keeps the loop short.
      const bool is_fast = is_aligned_ && first >= facts_->first_seeing;
      const auto rows = global_rows(tensor, facts_->b, at.head, first, facts_->end_seeing,
                                    arguments_.sizes.head_dim, true);
      if (is_fast) {
        load_tile<Config::kNumThreads>(query_tile(to, stage), rows);
      } else {
        load_tile_from_row<Config::kNumThreads>(query_tile(to, stage), rows,
                                                facts_->first_seeing - first);
      }
    };
    load(sQ_, arguments_.Q);
    load(sdO_, arguments_.dO);
    ptx::cp_async_commit();
    if (threadIdx.x >= Config::kBlockQ) return {};
    ranges_[stage * Config::kBlockQ + threadIdx.x] =
        facts_->visible.range_of_query(first + static_cast<int>(threadIdx.x));
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
    if constexpr (Config::kStages == 2)
      put_statistics(load_queries(at, walk().stage_of(at)), walk().stage_of(at));
    for (; walk().is_there(at); at = walk().settled(at)) {
      const int stage = walk().stage_of(at);
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
        if (!walk().is_first(at))
          add_dQ(gradient_tile(Config::kStages - 1 - stage), walk().previous_dQ_tile(at));
      }
      if (kKeepsStatistics) put_statistics(statistics, Config::kStages - 1 - stage);
      if constexpr (Config::kStages == 1) {
        ptx::cp_async_wait<0>();
        __syncthreads();
      }

      // 4. dV and dK.
      if constexpr (Config::kSharesScores) {
        add_shared_tile(dK, dV, at);
        at.query += Config::kBlockQ;
      } else {
#pragma unroll 1
        do {
          add_chunk(dK, dV, at);
          at.query += Config::kWarpChunk;
        } while (at.query % Config::kBlockQ != 0);
      }
    }
    if constexpr (Config::kWithDQ && !Config::kSharesScores) {
      __syncthreads();
      add_dQ(gradient_tile(Config::kStages - 1 - walk().stage_of(at)), walk().previous_dQ_tile(at));
    }
  }

  /// Computes P^T and dS^T of the warp's keys and kWarpChunk queries from at.query on. Returns
  /// false and leaves them unset if all pairs are hidden.
  __device__ __forceinline__ bool score(Scores& S, Scores& dP, const WalkPlace& at,
                                        int stage) const {
    const int q = at.query % Config::kBlockQ;  // within its tile
    const float scale_log2 = arguments_.softmax_scale * kLog2E;
    const int key = facts_->first_key + warp_first_key();
    const IndexRange* const ranges = ranges_ + stage * Config::kBlockQ + q;
    const IndexRange first_range = ranges[0], last_range = ranges[Config::kWarpChunk - 1];
    if (key >= last_range.end || key + Config::kWarpKeys <= first_range.first) return false;
    const bool is_edge = key + Config::kWarpKeys > first_range.end || key < last_range.first;

    multiply_rows<TensorCore>(
        S, ARows(rows_from<Config::kWarpKeys>(sK_, warp_first_key()), chunk_lane()),
        BRows(rows_from<Config::kWarpChunk>(query_tile(sQ_, stage), q), chunk_lane()));
    multiply_rows<TensorCore>(
        dP, ARows(rows_from<Config::kWarpKeys>(sV_, warp_first_key()), chunk_lane()),
        BRows(rows_from<Config::kWarpChunk>(query_tile(sdO_, stage), q), chunk_lane()));
    const float* const lse_log2 = lse_log2_ + stage * Config::kBlockQ + q;
    const float* const delta = stage_delta_ + stage * Config::kBlockQ + q;
    if (is_edge) {
      weigh_keys<true>(S, dP, lse_log2, delta, scale_log2, ranges, key, chunk_lane());
    } else {
      weigh_keys<false>(S, dP, lse_log2, delta, scale_log2, ranges, key, chunk_lane());
    }
    return true;
  }

  /// dV += P^T dO and dK += dS^T Q for kWarpChunk queries from at.query on. Stores dS^T
  /// to shared memory.
  __device__ __forceinline__ void add_chunk(KeyGradients& dK, KeyGradients& dV,
                                            const WalkPlace& at) const {
    const int q = at.query % Config::kBlockQ;
    const int stage = walk().stage_of(at);
    Scores S, dP;
    const bool is_visible = score(S, dP, at, stage);
    if (!is_visible) set_to_zero(dP);
    if constexpr (Config::kWithDQ) {
      if (warp() < Config::kKeyWarps)
        put_sums(gradient_tile(stage), warp_first_key(), q, dP, 1.f, chunk_lane());
    }
    if (!is_visible) return;
    const auto chunk = [&](Element* tiles) {
      return warp_columns(rows_from<Config::kWarpChunk>(query_tile(tiles, stage), q));
    };
    multiply_sums<TensorCore>(dV, S, chunk(sdO_));
    multiply_sums<TensorCore>(dK, dP, chunk(sQ_));
  }

  /// Does the same for a query tile, and dQ. Warps that share keys each compute P^T and dS^T of
  /// their part of the queries, and use all of them for their columns of dV and dK.
  __device__ __forceinline__ void add_shared_tile(KeyGradients& dK, KeyGradients& dV,
                                                  const WalkPlace& at) const {
    const auto sP = gradient_tile(1), sdS = gradient_tile(0);
    {
      Scores S, dP;
      const int q = warp() / Config::kKeyWarps * Config::kWarpChunk;
      if (!score(S, dP, {at.head, at.query + q}, walk().stage_of(at))) {
        set_to_zero(S);
        set_to_zero(dP);
      }
      put_sums(sP, warp_first_key(), q, S, 1.f, chunk_lane());
      put_sums(sdS, warp_first_key(), q, dP, 1.f, chunk_lane());
    }
    __syncthreads();
    const auto keys = [](const typename Config::GradientTile& of) {
      return ARows(rows_from<Config::kWarpKeys>(of, warp_first_key()), chunk_lane());
    };
    multiply_tiles<TensorCore>(dV, keys(sP), warp_columns(query_tile(sdO_, walk().stage_of(at))));
    multiply_tiles<TensorCore>(dK, keys(sdS), warp_columns(query_tile(sQ_, walk().stage_of(at))));
    if constexpr (Config::kWithDQ) add_dQ(sdS, walk().dQ_tile_of(at));
  }

  template <class Tile>
  static __device__ __forceinline__ auto warp_columns(const Tile& tile) {
    typename TensorCore::template BColumns<Tile> columns(tile, chunk_lane());
    if (Config::kColumnWarps > 1) columns.skip_chunks(warp_first_column() / kChunkElements);
    return columns;
  }

  __device__ __forceinline__ void add_dQ(const typename Config::GradientTile& sdS,
                                         int dQ_tile) const {
    const int warp = KeyTileBlock::warp();
    const int first_query = warp / Config::kWarpsD * Config::kWarpQueriesDQ;
    const int first_column = warp % Config::kWarpsD * Config::kWarpColumnsDQ;
    WarpSums<Config::kWarpQueriesDQ / 16, Config::kWarpColumnsDQ / 8> dQ;
    typename TensorCore::template AColumns<typename Config::GradientTile> dS(sdS, new_lane_id());
    typename TensorCore::template BColumns<typename Config::KeyTile> K(sK_, new_lane_id());
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
    put_sums(sK_, warp_first_key(), warp_first_column(), dK, arguments_.softmax_scale);
    put_sums(sV_, warp_first_key(), warp_first_column(), dV);
    __syncthreads();
    constexpr int kRows = Config::kBlockKV / Config::kWarps;
    static_assert(kRows % 8 == 0);
    const auto rows = [&](const DeviceTensor<Element>& tensor) {
      return global_rows(tensor, facts_->b, facts_->kv_head, facts_->first_key + warp() * kRows,
                         arguments_.sizes.seqlen_k, arguments_.sizes.head_dim, is_aligned_);
    };
    store_rows(rows_from<kRows>(sK_, warp() * kRows), rows(arguments_.dK));
    store_rows(rows_from<kRows>(sV_, warp() * kRows), rows(arguments_.dV));
  }

  const BackwardArguments<Element>& arguments_;
  const float* const delta_;
  float* const dQ_sums_;
  const bool is_aligned_;
  typename Config::KeyTile sK_, sV_;  // [kBlockKV, kHeadDim]
  // sQ_, sdO_ [kStages][kBlockQ, kHeadDim], sdS_ [kGradientTiles][kBlockKV, kBlockQ]
  Element *sQ_, *sdO_, *sdS_;
  float *lse_log2_, *stage_delta_;  // [kStages][kBlockQ]
  IndexRange* ranges_;              // [kStages][kBlockQ]
  KeyTileFacts* facts_;
};

}  // namespace flashlab::cuda
