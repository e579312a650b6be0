// How a block that owns a K/V tile walks over the queries that see it (backward_key_tile.cuh): the
// query tiles of one head after the other.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/arguments.cuh"

namespace flashlab::cuda {

/// What a block has to know all the time: in shared memory, because registers are few.
struct KeyTileFacts {
  int b, kv_head;
  int first_key;    // of the tile
  int begin_query;  // that sees any key
  int first_query;  // of the first query tile that sees that key; may lie beyond end_query
  int end_query;    // of all query tiles
  int keys, diagonal;

  /// As a causal mask, which for a mask of keys alone has its diagonal beyond all of them.
  __device__ __forceinline__ VisibleKeys visible() const { return {keys, true, diagonal}; }
};

/// Where a block is in its walk: at a query tile or, within its chunks, at a query of it.
struct WalkPlace {
  int head, query;
};

template <class Config>
struct QueryWalk {
  const Sizes& sizes;
  const KeyTileFacts& facts;

  /// One tile further, which may be the next head's first.
  __device__ __forceinline__ WalkPlace next(const WalkPlace& at) const {
    return settled({at.head, at.query + Config::kBlockQ});
  }
  /// Beyond a head's last tile comes the next head's first.
  __device__ __forceinline__ WalkPlace settled(const WalkPlace& at) const {
    return at.query < facts.end_query ? at : WalkPlace{at.head + 1, facts.first_query};
  }
  /// Where the tile before lies among all heads' sums of dQ.
  __device__ __forceinline__ int previous_dQ_tile(const WalkPlace& at) const {
    return dQ_tile_of({at.head, at.query == facts.first_query ? 0 : at.query}) - 1;
  }
  __device__ __forceinline__ int dQ_tile_of(const WalkPlace& at) const {
    const int num_q_tiles = facts.end_query / Config::kBlockQ;
    return (facts.b * sizes.num_heads + at.head) * num_q_tiles + at.query / Config::kBlockQ;
  }
  /// Tiles alternate between two stages. Recomputed each time, because registers are few.
  __device__ __forceinline__ int stage_of(const WalkPlace& at) const {
    if (Config::kStages == 1) return 0;
    const int queries_a_head = facts.end_query - facts.first_query;
    return (at.head * (queries_a_head / Config::kBlockQ) + at.query / Config::kBlockQ) & 1;
  }
  __device__ __forceinline__ WalkPlace first() const {
    return {facts.kv_head * sizes.heads_per_kv_head, facts.first_query};
  }
  __device__ __forceinline__ bool is_there(const WalkPlace& at) const {
    return at.head < (facts.kv_head + 1) * sizes.heads_per_kv_head;
  }
  __device__ __forceinline__ bool is_first(const WalkPlace& at) const {
    return at.head == first().head && at.query == facts.first_query;
  }
};

}  // namespace flashlab::cuda
