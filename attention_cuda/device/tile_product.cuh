// Products of fp32 tiles in shared memory with multiply-adds. The threads of a group form a grid of
// kRowThreads x kColumnThreads over the product; each has kRows x kColumns sums of it.
//
//   nt   sums += A B^T   A [rows, depth], B [columns, depth]   S = Q K^T,  dP = dO V^T
//   nn   sums += A B     A [rows, depth], B [depth, columns]   dQ = dS K
//   tn   sums += A^T B   A [depth, rows], B [depth, columns]   dV = P^T dO,  dK = dS^T Q
//
// Every load is a 16-byte chunk of a row. If a chunk is along the depth, a thread has single rows
// (columns), kRowThreads (kColumnThreads) apart. If it is along the product, a thread has chunks of
// four. In both cases SharedTile puts chunks that lanes read at once into different banks.
// Lanes    a warp's 16-byte loads are served in halves if lanes l and l ^ 1, or l and l ^ 2,
//          read the same bytes, otherwise in quarters: so bit 0 of the thread selects the row,
//          bit 1 the column
// Ratio    8 x 8 sums: 4 loads for 64 multiply-adds of a thread; 4 x 8: 3 for 32
// Against  simt_product.cuh: tiles without padding (six of 64 x 64 fit in 99 KiB), and A^T
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// The sums of a kTileRows x kTileColumns product that a thread of the group has.
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
  /// Chunks of four rows or columns; c is the index of a chunk.
  __device__ int row_chunk(int c) const { return row_thread + c * kRowThreads; }
  __device__ int column_chunk(int c) const { return column_thread + c * kColumnThreads; }
};

/// SharedTile permutes chunks in groups of 8 and repeats this every 8 rows. So steps of 8 rows or
/// chunks are constants in a load's address.
inline constexpr int kPeriod = 8;

/// Returns chunk `index` of row `row + rows`, for a constant `rows`.
template <class Tile>
__device__ __forceinline__ const float* chunk_rows_on(const Tile& tile, int row, int rows,
                                                      int index) {
  return tile.chunk(row + rows % kPeriod, index) + rows / kPeriod * kPeriod * Tile::kColumns;
}

__device__ __forceinline__ void unpack(float4 from, float* to) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z, to[3] = from.w;
}

__device__ __forceinline__ void load_4(const float* chunk, float* to) {
  unpack(*reinterpret_cast<const float4*>(chunk), to);
}

/// The weight of a pair that the mask hides. P of a visible pair is never -0. dS of a visible pair
/// can be -0 only if Q, K and V are finite; then skipping it changes nothing.
inline constexpr float kHiddenWeight = -0.f;

__device__ __forceinline__ bool is_hidden(float weight) {
  return __float_as_uint(weight) == 0x80000000u;
}

/// sums += weights x row. kSkipsHidden: skips hidden weights, because the other factor may be NaN.
template <bool kSkipsHidden, int kRows, int kColumns>
__device__ __forceinline__ void add_outer_product(const float (&weights)[kRows],
                                                  const float (&row)[kColumns],
                                                  float (&sums)[kRows][kColumns]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (kSkipsHidden && is_hidden(weights[r])) continue;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[r][c] = fmaf(weights[r], row[c], sums[r][c]);
  }
}

/// Loads chunk k of kTimes single rows of a tile, kThreads apart.
template <int kThreads, int kTimes, class Tile>
__device__ __forceinline__ void load_single_rows(const Tile& tile, int first, int k,
                                                 float (&rows)[kTimes][4]) {
#pragma unroll
  for (int r = 0; r < kTimes; ++r) load_4(chunk_rows_on(tile, first, r * kThreads, k), rows[r]);
}

/// A thread's chunks in successive rows: `first`, one of the first kThreads, and every kThreads-th
/// after it. One register, an xor and an offset give all addresses of 8 rows.
template <class Tile, int kThreads>
class ThreadChunks {
 public:
  static_assert((kThreads & (kThreads - 1)) == 0, "first and the steps from there share no bit");

  __device__ __forceinline__ ThreadChunks(const Tile& tile, int first)
      : first_(ptx::opaque(ptx::shared_address(tile.data) + static_cast<unsigned>(first * 16))) {}

  /// Loads the chunks of a row, 0 … 7, a constant after unrolling.
  template <int kElements>
  __device__ __forceinline__ void load(int row, float (&elements)[kElements]) const {
    const int permutation = row / (8 / Tile::kPermuted) % Tile::kPermuted;
#pragma unroll
    for (int c = 0; c < kElements / 4; ++c) {
      const int chunks = c * kThreads, low = chunks % kPeriod;
      const auto flipped = static_cast<unsigned>((permutation ^ low) * 16);
      const auto offset = static_cast<unsigned>(row * kRowBytes + (chunks - low) * 16);
      unpack(ptx::load_shared_float4((first_ ^ flipped) + offset), elements + 4 * c);
    }
  }

  __device__ __forceinline__ void go_on() { first_ += kPeriod * kRowBytes; }

 private:
  static constexpr int kRowBytes = Tile::kChunks * 16;
  ptx::SharedAddress first_;
};

template <class Grid, class TileA, class TileB>
__device__ __forceinline__ void add_product_nt(const Grid& grid, const TileA& A, const TileB& B,
                                               typename Grid::Sums& sums) {
  static_assert(TileA::kColumns == TileB::kColumns, "one depth");
#pragma unroll 2
  for (int k = 0; k < TileA::kChunks; ++k) {
    float a[Grid::kRows][4];
    load_single_rows<Grid::kRowThreads>(A, grid.row_thread, k, a);
#pragma unroll
    for (int c = 0; c < Grid::kColumns; ++c) {
      float b[4];
      load_4(chunk_rows_on(B, grid.column_thread, c * Grid::kColumnThreads, k), b);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int r = 0; r < Grid::kRows; ++r) sums[r][c] = fmaf(a[r][e], b[e], sums[r][c]);
      }
    }
  }
}

template <bool kSkipsHidden, class Grid, class TileA, class TileB>
__device__ __forceinline__ void add_product_nn(const Grid& grid, const TileA& A, const TileB& B,
                                               typename Grid::Sums& sums) {
  static_assert(TileA::kColumns == TileB::kRows, "one depth");
  ThreadChunks<TileB, Grid::kColumnThreads> B_chunks(B, grid.column_thread);
#pragma unroll 1
  for (int k = 0; k < TileB::kRows; k += kPeriod) {
#pragma unroll
    for (int half = 0; half < kPeriod; half += 4) {
      float a[Grid::kRows][4];
      load_single_rows<Grid::kRowThreads>(A, grid.row_thread, (k + half) / 4, a);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float weights[Grid::kRows], b[Grid::kColumns];
#pragma unroll
        for (int r = 0; r < Grid::kRows; ++r) weights[r] = a[r][e];
        B_chunks.load(half + e, b);
        add_outer_product<kSkipsHidden>(weights, b, sums);
      }
    }
    B_chunks.go_on();
  }
}

template <bool kSkipsHidden, class Grid, class TileA, class TileB>
__device__ __forceinline__ void add_product_tn(const Grid& grid, const TileA& A, const TileB& B,
                                               typename Grid::Sums& sums) {
  static_assert(TileA::kRows == TileB::kRows, "one depth");
  ThreadChunks<TileA, Grid::kRowThreads> A_chunks(A, grid.row_thread);
  ThreadChunks<TileB, Grid::kColumnThreads> B_chunks(B, grid.column_thread);
#pragma unroll 1
  for (int k = 0; k < TileA::kRows; k += kPeriod) {
#pragma unroll
    for (int e = 0; e < kPeriod; ++e) {
      float weights[Grid::kRows], b[Grid::kColumns];
      A_chunks.load(e, weights);
      B_chunks.load(e, b);
      add_outer_product<kSkipsHidden>(weights, b, sums);
    }
    A_chunks.go_on();
    B_chunks.go_on();
  }
}

}  // namespace flashlab::cuda
