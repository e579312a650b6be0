// The division of a backward problem among blocks, like detail/tile_shapes.hpp for
// the forward pass.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// delta: a power of two of lanes per row, for 16 bytes each if they are enough.
struct DeltaShape {
  int head_dim, element_bytes;

  static constexpr int kNumThreads = 256, kRowsOfThread = 4;
  constexpr int lanes() const {
    int lanes = 1;
    while (lanes < 32 && 16 * lanes < head_dim * element_bytes) lanes *= 2;
    return lanes;
  }
  constexpr int num_rows() const { return kRowsOfThread * (kNumThreads / lanes()); }
};

/// fp32 (device/backward_fp32.cuh): tiles of `block` queries and `block` keys.
struct BackwardFp32Shape {
  static constexpr int kHalfThreads = 64, kNumThreads = 2 * kHalfThreads;
  static constexpr int kZeroThreads = 256;
  static constexpr int kStatisticsBytes = 16;  // per query: lse, delta, first and end of its keys
  int head_dim;

  constexpr int block() const { return head_dim <= 64 ? 64 : 4096 / head_dim; }
  /// For dQ: Q, dO, two tiles of K, and V; dS; statistics.
  constexpr int query_pass_bytes() const {
    return block() * (5 * head_dim * 4 + block() * 4 + kStatisticsBytes);
  }
  /// For dK and dV: K, V, Q and dO; P and dS; statistics.
  constexpr int key_pass_bytes() const {
    return block() * (4 * head_dim * 4 + 2 * block() * 4 + kStatisticsBytes);
  }
};

/// The block of a K/V tile on tensor cores: how it processes the queries.
struct KeyTileShape {
  int block_q, block_kv, warps, warp_keys;
  int chunk;       // queries whose S^T and dP^T are in registers at once
  int stages;      // of sQ and sdO: 2 overlap loading the next tile with products
  int warps_q;     // for dQ
  int min_blocks;  // per multiprocessor

  static constexpr int kFactsBytes = 64;  // KeyTileFacts

  constexpr int num_threads() const { return 32 * warps; }
  constexpr int column_warps() const { return warps / (block_kv / warp_keys); }
  /// Warps with the same keys share S and dP through shared memory.
  constexpr bool shares_scores(int element_bytes) const {
    return column_warps() > 1 && element_bytes == 2 && block_q / column_warps() % 16 == 0;
  }
  constexpr int gradient_tiles(int element_bytes, bool with_dQ) const {
    return shares_scores(element_bytes) ? 2 : with_dQ ? stages : 0;
  }
  /// K, V, Q, dO; gradients of S; lse, delta and the range of keys of each query; facts.
  constexpr int shared_bytes(int head_dim, int element_bytes, bool with_dQ) const {
    return 2 * (block_kv + stages * block_q) * head_dim * element_bytes +
           gradient_tiles(element_bytes, with_dQ) * block_kv * block_q * element_bytes +
           4 * stages * block_q * 4 + kFactsBytes;
  }
};

/// The block of a query tile on tensor cores: how it processes the keys.
struct QueryTileShape {
  int warps, warp_queries, block_kv;
  int chunk;       // keys whose S and dP are in registers at once
  int stages;      // of sK and sV: 2 overlap loading the next tile with products
  int min_blocks;  // per multiprocessor

  constexpr int block_q() const { return warps * warp_queries; }
  constexpr int num_threads() const { return 32 * warps; }
  /// Q, dO, K and V; the range of keys of each query.
  constexpr int shared_bytes(int head_dim, int element_bytes) const {
    return 2 * (block_q() + stages * block_kv) * head_dim * element_bytes + 8 * block_q();
  }
};

}  // namespace flashlab::cuda
