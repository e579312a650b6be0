// Products of fp32 tiles in shared memory, by multiply-adds. The threads of a group lie in a grid,
// kRowThreads x kColumnThreads, over the product; each holds kRows x kColumns sums of it.
//
//   nt   sums += A B^T   A [rows, depth], B [columns, depth]   S = Q K^T,  dP = dO V^T
//   nn   sums += A B     A [rows, depth], B [depth, columns]   dQ = dS K
//   tn   sums += A^T B   A [depth, rows], B [depth, columns]   dV = P^T dO,  dK = dS^T Q
//
// Every load is a 16-byte chunk of a row. Where that runs along the depth, a thread takes single
// rows (columns), kRowThreads (kColumnThreads) apart; where it runs along the product, chunks of
// four. SharedTile keeps the chunks that lanes ask for at once in different banks in both cases.
// Lanes    a warp's 16-byte loads are served in halves if lanes l and l ^ 1, or l and l ^ 2, want
//          the same, in quarters if not: so bit 0 of the thread names the row, bit 1 the column
// Ratio    8 x 8 sums: 4 loads for 64 multiply-adds of a thread; 4 x 8: 3 for 32
// Against  simt_product.cuh: tiles without padding (99 KiB hold six of 64 x 64), and A^T
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/shared_tile.cuh"

namespace flashlab::cuda {

/// Which sums of a kTileRows x kTileColumns product a thread of the group holds.
template <int kTileRows, int kTileColumns, int kGroupThreads, int kGroupColumnThreads>
struct ProductGrid {
  static constexpr int kColumnThreads = kGroupColumnThreads;
  static constexpr int kRowThreads = kGroupThreads / kColumnThreads;
  static constexpr int kRows = kTileRows / kRowThreads;
  static constexpr int kColumns = kTileColumns / kColumnThreads;
  static_assert(kRowThreads * kColumnThreads == kGroupThreads && kRowThreads % 2 == 0,
                "the grid has every thread, rows in pairs");
  static_assert(kRows * kRowThreads == kTileRows && kColumns * kColumnThreads == kTileColumns,
                "the threads share the tile evenly");

  using Sums = float[kRows][kColumns];

  int row_thread, column_thread;

  __device__ explicit ProductGrid(int thread)
      : row_thread(thread / (2 * kColumnThreads) * 2 + thread % 2),
        column_thread(thread / 2 % kColumnThreads) {}

  __device__ int single_row(int r) const { return row_thread + r * kRowThreads; }
  __device__ int single_column(int c) const { return column_thread + c * kColumnThreads; }
  /// Chunks of four rows or columns; c counts chunks.
  __device__ int row_chunk(int c) const { return row_thread + c * kRowThreads; }
  __device__ int column_chunk(int c) const { return column_thread + c * kColumnThreads; }
};

__device__ __forceinline__ float4 load_4(const float* chunk) {
  return *reinterpret_cast<const float4*>(chunk);
}

__device__ __forceinline__ void unpack(float4 from, float* to) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z, to[3] = from.w;
}

/// sums += weights x row. kSkipsZeros: what a weight of 0 is multiplied with may be NaN.
template <bool kSkipsZeros, int kRows, int kColumns>
__device__ __forceinline__ void add_outer_product(const float (&weights)[kRows],
                                                  const float (&row)[kColumns],
                                                  float (&sums)[kRows][kColumns]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (kSkipsZeros && weights[r] == 0.f) continue;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[r][c] = fmaf(weights[r], row[c], sums[r][c]);
  }
}

template <class Grid, class TileA, class TileB>
__device__ __forceinline__ void add_product_nt(const Grid& grid, const TileA& A, const TileB& B,
                                               typename Grid::Sums& sums) {
  static_assert(TileA::kColumns == TileB::kColumns, "one depth");
#pragma unroll 2
  for (int k = 0; k < TileA::kChunks; ++k) {
    float a[Grid::kRows][4];
#pragma unroll
    for (int r = 0; r < Grid::kRows; ++r) unpack(load_4(A.chunk(grid.single_row(r), k)), a[r]);
#pragma unroll
    for (int c = 0; c < Grid::kColumns; ++c) {
      float b[4];
      unpack(load_4(B.chunk(grid.single_column(c), k)), b);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int r = 0; r < Grid::kRows; ++r) sums[r][c] = fmaf(a[r][e], b[e], sums[r][c]);
      }
    }
  }
}

/// The grid's chunks of one row of a tile: what its columns are multiplied with.
template <class Grid, class Tile>
__device__ __forceinline__ void load_columns(const Grid& grid, const Tile& tile, int row,
                                             float (&columns)[Grid::kColumns]) {
#pragma unroll
  for (int c = 0; c < Grid::kColumns / 4; ++c) {
    unpack(load_4(tile.chunk(row, grid.column_chunk(c))), columns + 4 * c);
  }
}

template <bool kSkipsZeros, class Grid, class TileA, class TileB>
__device__ __forceinline__ void add_product_nn(const Grid& grid, const TileA& A, const TileB& B,
                                               typename Grid::Sums& sums) {
  static_assert(TileA::kColumns == TileB::kRows, "one depth");
#pragma unroll 2
  for (int k = 0; k < TileA::kChunks; ++k) {
    float a[Grid::kRows][4];
#pragma unroll
    for (int r = 0; r < Grid::kRows; ++r) unpack(load_4(A.chunk(grid.single_row(r), k)), a[r]);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float weights[Grid::kRows], b[Grid::kColumns];
#pragma unroll
      for (int r = 0; r < Grid::kRows; ++r) weights[r] = a[r][e];
      load_columns(grid, B, 4 * k + e, b);
      add_outer_product<kSkipsZeros>(weights, b, sums);
    }
  }
}

template <bool kSkipsZeros, class Grid, class TileA, class TileB>
__device__ __forceinline__ void add_product_tn(const Grid& grid, const TileA& A, const TileB& B,
                                               typename Grid::Sums& sums) {
  static_assert(TileA::kRows == TileB::kRows, "one depth");
#pragma unroll 8
  for (int k = 0; k < TileA::kRows; ++k) {
    float weights[Grid::kRows], b[Grid::kColumns];
#pragma unroll
    for (int c = 0; c < Grid::kRows / 4; ++c) {
      unpack(load_4(A.chunk(k, grid.row_chunk(c))), weights + 4 * c);
    }
    load_columns(grid, B, k, b);
    add_outer_product<kSkipsZeros>(weights, b, sums);
  }
}

}  // namespace flashlab::cuda
