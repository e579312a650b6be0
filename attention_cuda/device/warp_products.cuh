// Products of one warp on tensor cores, from tiles in shared memory and sums in registers. A warp's
// sums are [row tiles of 16][column tiles of 8] fragments D (ptx/mma.cuh). Loops are unrolled, so
// that fragments stay in registers.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/device/tensor_core.cuh"
#include "attention_cuda/ptx/convert.cuh"

namespace flashlab::cuda {

/// Fragments of (16 kRowTiles) x (8 kColumnTiles) fp32 sums, distributed over the lanes.
template <int kRowTiles, int kColumnTiles>
using WarpSums = float[kRowTiles][kColumnTiles][4];

/// Unrolled steps of the summed index. For values split in two, more steps would
/// exceed the registers.
template <class TensorCore>
inline constexpr int kUnrolledSteps = TensorCore::kSplitsValues ? 2 : 8;

template <int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void set_to_zero(WarpSums<kRowTiles, kColumnTiles>& sums) {
#pragma unroll
  for (int row = 0; row < kRowTiles; ++row) {
#pragma unroll
    for (int column = 0; column < kColumnTiles; ++column) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[row][column][i] = 0.f;
    }
  }
}

/// Adds A B for one step of the summed index. `load` loads B's fragments of two column tiles.
template <class TensorCore, int kRowTiles, int kColumnTiles, class LoadB>
__device__ __forceinline__ void multiply_step(WarpSums<kRowTiles, kColumnTiles>& sums,
                                              const typename TensorCore::A (&a)[kRowTiles],
                                              const LoadB& load) {
  static_assert(kColumnTiles % 2 == 0, "B is loaded 16 columns at a time");
#pragma unroll
  for (int column = 0; column < kColumnTiles; column += 2) {
    // Keeps loads from shared memory after this point. If more were started earlier, values in two
    // parts would exceed the registers.
    if (TensorCore::kSplitsValues && column % 4 == 0) __syncwarp();
    typename TensorCore::B b[2];
    load(b, column * 8);
#pragma unroll
    for (int row = 0; row < kRowTiles; ++row) {
      TensorCore::multiply_add(sums[row][column], a[row], b[0]);
      TensorCore::multiply_add(sums[row][column + 1], a[row], b[1]);
    }
  }
}

/// sums(i, j) = row i of one tile times row j of the other.
template <class TensorCore, int kRowTiles, int kColumnTiles, class TileA, class TileB>
__device__ __forceinline__ void multiply_rows(WarpSums<kRowTiles, kColumnTiles>& sums,
                                              const ARows<TileA>& rows_a,
                                              const BRows<TileB>& rows_b) {
  static_assert(TileA::kColumns == TileB::kColumns);
  set_to_zero(sums);
  [[maybe_unused]] constexpr int kUnrolled = kUnrolledSteps<TensorCore>;
#pragma unroll kUnrolled
  for (int k = 0; k < TileA::kColumns; k += TensorCore::kDepth) {
    typename TensorCore::A a[kRowTiles];
#pragma unroll
    for (int row = 0; row < kRowTiles; ++row) TensorCore::load(a[row], rows_a, row * 16, k);
    multiply_step<TensorCore>(
        sums, a, [&](typename TensorCore::B(&b)[2], int n) { TensorCore::load(b, rows_b, n, k); });
  }
}

/// sums(i, j) += row i of the factors times column j of a tile, which has as many rows as the
/// factors have columns. columns: TensorCore::BColumns of the tile.
template <class TensorCore, int kRowTiles, int kDepthTiles, int kColumnTiles, class Columns>
__device__ __forceinline__ void multiply_sums(WarpSums<kRowTiles, kColumnTiles>& sums,
                                              const WarpSums<kRowTiles, kDepthTiles>& factors,
                                              const Columns& columns) {
#pragma unroll
  for (int step = 0; step < kDepthTiles; step += TensorCore::kSumTiles) {
    typename TensorCore::A a[kRowTiles];
#pragma unroll
    for (int row = 0; row < kRowTiles; ++row) TensorCore::a_of_sums(a[row], &factors[row][step]);
    multiply_step<TensorCore>(sums, a, [&](typename TensorCore::B(&b)[2], int n) {
      TensorCore::load(b, columns, n, step * 8);
    });
  }
}

/// sums(i, j) += row i of one tile times column j of the other. Only for 16-bit elements, for
/// which both orders of the summed index are equal. columns_b: TensorCore::BColumns of a tile
/// with TileA::kColumns rows.
template <class TensorCore, int kRowTiles, int kColumnTiles, class TileA, class ColumnsB>
__device__ __forceinline__ void multiply_tiles(WarpSums<kRowTiles, kColumnTiles>& sums,
                                               const ARows<TileA>& rows_a,
                                               const ColumnsB& columns_b) {
  static_assert(sizeof(typename TensorCore::Element) == 2);
#pragma unroll
  for (int k = 0; k < TileA::kColumns; k += TensorCore::kDepth) {
    typename TensorCore::A a[kRowTiles];
#pragma unroll
    for (int row = 0; row < kRowTiles; ++row) TensorCore::load(a[row], rows_a, row * 16, k);
    multiply_step<TensorCore>(sums, a, [&](typename TensorCore::B(&b)[2], int n) {
      TensorCore::load(b, columns_b, n, k);
    });
  }
}

/// sums(i, j) = column i of one tile times column j of the other, over kDepth rows of both.
/// columns_a, columns_b: TensorCore::AColumns and BColumns of the tiles.
template <class TensorCore, int kDepth, int kRowTiles, int kColumnTiles, class ColumnsA,
          class ColumnsB>
__device__ __forceinline__ void multiply_columns(WarpSums<kRowTiles, kColumnTiles>& sums,
                                                 const ColumnsA& columns_a,
                                                 const ColumnsB& columns_b) {
  set_to_zero(sums);
  [[maybe_unused]] constexpr int kUnrolled = kUnrolledSteps<TensorCore>;
#pragma unroll kUnrolled
  for (int k = 0; k < kDepth; k += TensorCore::kDepth) {
    typename TensorCore::A a[kRowTiles];
#pragma unroll
    for (int row = 0; row < kRowTiles; ++row) TensorCore::load(a[row], columns_a, row * 16, k);
    multiply_step<TensorCore>(sums, a, [&](typename TensorCore::B(&b)[2], int n) {
      TensorCore::load(b, columns_b, n, k);
    });
  }
}

/// Where the lane puts its sums into a tile: in its first row.
template <class Tile>
__device__ __forceinline__ LaneRow<Tile> sums_place(const Tile& tile, int lane) {
  const int pair_byte =  // of 16 or 32 bytes in the lane's row
      lane % 4 * 2 * static_cast<int>(sizeof(typename Tile::Element));
  return {tile, lane / 4, pair_byte / 16, pair_byte % 16};
}

/// tile(i, first_column + j) = scale sums(i, j), rounded to the tile's elements. to: sums_place.
template <int kRowTiles, int kColumnTiles, class Tile>
__device__ __forceinline__ void put_sums(LaneRow<Tile> to, int first_column,
                                         const WarpSums<kRowTiles, kColumnTiles>& sums,
                                         float scale = 1.f) {
  using Element = typename Tile::Element;
  constexpr int kBytes = sizeof(Element), kTileChunks = 8 / Tile::kChunkElements;
  to.skip_chunks(first_column / Tile::kChunkElements);
#pragma unroll
  for (int m = 0; m < kRowTiles * 2; ++m) {
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n) {
      const float first = sums[m / 2][n][m % 2 * 2] * scale;
      const float second = sums[m / 2][n][m % 2 * 2 + 1] * scale;
      if constexpr (kBytes == 4) {
        ptx::store_shared(to.at(m * 8, n * kTileChunks), first, second);
      } else {
        ptx::store_shared(to.at(m * 8, n * kTileChunks), ptx::pack(Element{}, first, second));
      }
    }
  }
}

/// tile(first_row + i, first_column + j) = scale sums(i, j), rounded to the tile's elements.
/// first_row is a multiple of 8.
template <int kRowTiles, int kColumnTiles, class Tile>
__device__ __forceinline__ void put_sums(const Tile& tile, int first_row, int first_column,
                                         const WarpSums<kRowTiles, kColumnTiles>& sums,
                                         float scale = 1.f, int lane = lane_id()) {
  put_sums(sums_place(rows_from<kRowTiles * 16>(tile, first_row), lane), first_column, sums, scale);
}

}  // namespace flashlab::cuda
