// How the backward kernels divide their problem among blocks, as detail/tile_shapes.hpp does for
// the forward ones.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {

/// delta: one warp per row.
struct DeltaShape {
  static constexpr int kNumWarps = 8, kNumThreads = 32 * kNumWarps;
};

/// fp32 (device/backward_fp32.cuh): tiles of `block` queries and as many keys.
struct BackwardFp32Shape {
  static constexpr int kHalfThreads = 64, kNumThreads = 2 * kHalfThreads;
  static constexpr int kZeroThreads = 256;
  static constexpr int kStatisticsBytes = 12;  // a query: lse, delta, how many keys it sees
  int head_dim;

  constexpr int block() const { return head_dim <= 64 ? 64 : 4096 / head_dim; }
  /// For dQ: Q, dO, K twice and V; dS; statistics.
  constexpr int query_pass_bytes() const {
    return block() * (5 * head_dim * 4 + block() * 4 + kStatisticsBytes);
  }
  /// For dK and dV: K, V, Q and dO; P and dS; statistics.
  constexpr int key_pass_bytes() const {
    return block() * (4 * head_dim * 4 + 2 * block() * 4 + kStatisticsBytes);
  }
};

/// How a block on tensor cores works through the queries of its K/V tile.
struct KeyTileShape {
  int block_q, block_kv, warps, warp_keys;
  int chunk;       // queries whose S^T and dP^T are in registers at a time
  int stages;      // of sQ and sdO: 2 load the next tile beside this one's products
  int warps_q;     // of dQ
  int min_blocks;  // on a multiprocessor

  static constexpr int kFactsBytes = 32;  // KeyTileFacts

  constexpr int num_threads() const { return 32 * warps; }
  constexpr int column_warps() const { return warps / (block_kv / warp_keys); }
  /// Warps that have the same keys share S and dP by way of shared memory.
  constexpr bool shares_scores(int element_bytes) const {
    return column_warps() > 1 && element_bytes == 2 && block_q / column_warps() % 16 == 0;
  }
  constexpr int gradient_tiles(int element_bytes, bool with_dQ) const {
    return shares_scores(element_bytes) ? 2 : with_dQ ? stages : 0;
  }
  /// K, V, Q, dO; gradients of S; lse and delta; facts.
  constexpr int shared_bytes(int head_dim, int element_bytes, bool with_dQ) const {
    return 2 * (block_kv + stages * block_q) * head_dim * element_bytes +
           gradient_tiles(element_bytes, with_dQ) * block_kv * block_q * element_bytes +
           2 * stages * block_q * 4 + kFactsBytes;
  }
};

/// How a block on tensor cores works through the keys of its query tile.
struct QueryTileShape {
  int warps, warp_queries, block_kv;
  int chunk;       // keys whose S and dP are in registers at a time
  int stages;      // of sK and sV: 2 load the next tile beside this one's products
  int min_blocks;  // on a multiprocessor

  constexpr int block_q() const { return warps * warp_queries; }
  constexpr int num_threads() const { return 32 * warps; }
  /// Q, dO, K and V.
  constexpr int shared_bytes(int head_dim, int element_bytes) const {
    return 2 * (block_q() + stages * block_kv) * head_dim * element_bytes;
  }
};

/// bwd-onepass, bf16 and fp16, where a block has kLeastSharedBytes.
inline constexpr KeyTileShape kOnePassShapes16[] = {
    // queries, keys, warps, keys a warp, chunk, stages, warps_q, blocks an SM
    {64, 128, 4, 32, 32, 2, 2, 2},
    {64, 128, 4, 32, 32, 2, 2, 2},
    {32, 64, 4, 16, 32, 2, 1, 2},
    {32, 32, 4, 16, 32, 1, 1, 2}};
/// Where there is more shared memory; block_q 0: nothing better is known.
inline constexpr KeyTileShape kOnePassLargeShapes16[] = {
    {}, {}, {64, 128, 8, 32, 64, 2, 2, 1}, {32, 64, 8, 16, 32, 2, 1, 1}};
constexpr bool takes_large_shape(std::int64_t head_dim, std::int64_t shared_memory_bytes) {
  const KeyTileShape& large = kOnePassLargeShapes16[head_dim_index(head_dim)];
  return large.block_q > 0 &&
         large.shared_bytes(padded_head_dim(head_dim), 2, true) <= shared_memory_bytes;
}
/// float by tf32: rows are twice as long as 16-bit ones.
inline constexpr KeyTileShape kOnePassShapesTf32[] = {{32, 128, 4, 32, 16, 2, 2, 2},
                                                      {32, 64, 4, 16, 32, 2, 2, 2},
                                                      {16, 64, 4, 16, 16, 1, 1, 2},
                                                      {16, 32, 4, 16, 16, 1, 1, 1}};

/// bwd-twopass, for dQ.
inline constexpr QueryTileShape kTwoPassQueryShapes16[] = {
    // warps, queries a warp, keys, chunk, stages, blocks an SM
    {4, 32, 64, 32, 2, 2},
    {4, 32, 64, 64, 2, 2},
    {4, 32, 32, 32, 2, 2},
    {4, 16, 16, 16, 2, 2}};
/// [0] one tf32 product, [1] three for each, whose operands take twice the registers.
inline constexpr QueryTileShape kTwoPassQueryShapesTf32[2][4] = {
    {{4, 32, 32, 32, 2, 2}, {4, 32, 32, 32, 2, 2}, {4, 16, 16, 16, 2, 2}, {2, 16, 16, 16, 1, 2}},
    {{4, 32, 32, 32, 2, 2}, {4, 32, 32, 16, 2, 2}, {4, 16, 16, 16, 2, 2}, {2, 16, 16, 16, 1, 2}}};
/// For dK and dV; no warps_q.
inline constexpr KeyTileShape kTwoPassKeyShapes16[] = {{64, 128, 4, 32, 32, 2, 1, 2},
                                                       {64, 128, 4, 32, 32, 2, 1, 2},
                                                       {64, 64, 4, 16, 32, 2, 1, 2},
                                                       {16, 64, 8, 16, 16, 2, 1, 1}};
inline constexpr KeyTileShape kTwoPassKeyShapesTf32[2][4] = {{{32, 128, 4, 32, 32, 2, 1, 2},
                                                              {16, 128, 4, 32, 16, 2, 1, 2},
                                                              {16, 64, 4, 16, 16, 2, 1, 2},
                                                              {16, 32, 4, 16, 16, 1, 1, 1}},
                                                             {{32, 128, 4, 32, 32, 2, 1, 2},
                                                              {32, 64, 4, 16, 16, 2, 1, 2},
                                                              {16, 64, 8, 16, 16, 2, 1, 1},
                                                              {16, 32, 4, 16, 16, 1, 1, 1}}};

}  // namespace flashlab::cuda
