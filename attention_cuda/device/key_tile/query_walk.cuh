// The loop of a block that owns a K/V tile over the queries that see it (backward_key_tile.cuh):
// all query tiles of one head, then those of the next.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/arguments.cuh"

namespace flashlab::cuda {

/// Values that a block needs all the time. They are in shared memory to save registers.
struct KeyTileFacts {
  int b, kv_head;
  int first_key;     // the first key of the tile
  int first_query;   // the first query of the first tile that sees a key; may be beyond end_query
  int end_query;     // the end of the last query tile that sees a key of the tile
  int first_seeing;  // the first query that sees any key of the batch entry
  int end_seeing;    // the end of these queries, at most seqlen_q
  int num_q_tiles;   // of a head
  VisibleKeys visible;
};

/// The current place: a query tile or, within its chunks, one of its queries.
struct WalkPlace {
  int head, query;
};

template <class Config>
struct QueryWalk {
  const Sizes& sizes;
  const KeyTileFacts& facts;

  /// Returns the next tile, which may be the first of the next head.
  __device__ __forceinline__ WalkPlace next(const WalkPlace& at) const {
    return settled({at.head, at.query + Config::kBlockQ});
  }
  /// Moves from the end of a head to the first tile of the next head.
  __device__ __forceinline__ WalkPlace settled(const WalkPlace& at) const {
    return at.query < facts.end_query ? at : WalkPlace{at.head + 1, facts.first_query};
  }
  /// Returns the index of the previous tile among all heads' sums of dQ.
  __device__ __forceinline__ int previous_dQ_tile(const WalkPlace& at) const {
    const bool is_first = at.query == facts.first_query;
    return dQ_tile_of({is_first ? at.head - 1 : at.head, is_first ? facts.end_query : at.query}) -
           1;
  }
  __device__ __forceinline__ int dQ_tile_of(const WalkPlace& at) const {
    return (facts.b * sizes.num_heads + at.head) * facts.num_q_tiles + at.query / Config::kBlockQ;
  }
  /// Tiles alternate between two stages.
  __device__ __forceinline__ int stage_of(const WalkPlace& at) const {
    if (Config::kStages == 1) return 0;
    const int queries_per_head = facts.end_query - facts.first_query;
    return (at.head * (queries_per_head / Config::kBlockQ) + at.query / Config::kBlockQ) & 1;
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
