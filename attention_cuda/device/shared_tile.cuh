// A tile in shared memory: rows of kColumns elements, in chunks of 16 bytes. Chunk c of row r lies
// at chunk c ^ (r's place among the rows that start a 128-byte line), so that the eight rows that
// ldmatrix takes at once, at the same c, lie in different banks:
//
//   rows of 128 bytes   0 1 2 3 4 5 6 7     rows of 64 bytes, two a line   0 1 2 3 | 0 1 2 3
//                       1 0 3 2 5 4 7 6                                    1 0 3 2 | 1 0 3 2
//                       2 3 0 1 6 7 4 5                                    2 3 0 1 | 2 3 0 1
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/ptx/cp_async.cuh"

namespace flashlab::cuda {

template <class ElementType, int kTileRows, int kTileColumns>
struct SharedTile {
  using Element = ElementType;
  static constexpr int kRows = kTileRows, kColumns = kTileColumns;
  static constexpr int kChunkElements = 16 / static_cast<int>(sizeof(Element));
  static constexpr int kChunks = kColumns / kChunkElements;
  static constexpr int kBytes = kRows * kColumns * static_cast<int>(sizeof(Element));
  static constexpr int kPermuted = kChunks < 8 ? kChunks : 8;
  static_assert(kChunks * kChunkElements == kColumns && (kChunks & (kChunks - 1)) == 0,
                "rows are a power of two of chunks");

  Element* data;  // 128-byte aligned

  __device__ __forceinline__ Element* chunk(int row, int index) const {
    const int permuted = index ^ (row / (8 / kPermuted) % kPermuted);
    return data + row * kColumns + permuted * kChunkElements;
  }
  __device__ __forceinline__ Element* at(int row, int column) const {
    return chunk(row, column / kChunkElements) + column % kChunkElements;
  }
};

/// Rows of one head in global memory, from some row on.
template <class Element>
struct GlobalRows {
  Element* data;  // the first row
  std::int64_t row_stride, column_stride;
  int num_rows, head_dim;  // what lies beyond counts as 0
  bool is_aligned;         // DeviceTensor::has_aligned_rows
  int begin_row = 0;       // what lies before counts as 0
};

template <class Element>
__device__ __forceinline__ GlobalRows<Element> global_rows(const DeviceTensor<Element>& tensor,
                                                           int b, int h, int first_row, int end_row,
                                                           int head_dim, bool is_aligned) {
  return {tensor.row(b, h, first_row), tensor.row_stride, tensor.column_stride,
          end_row - first_row,         head_dim,          is_aligned};
}

/// The block's threads fill the tile, what is not there with 0. To be closed with cp_async_commit
/// and waited for; rows that are not aligned are there when the function returns, for this thread.
template <int kNumThreads, class Tile>
__device__ __forceinline__ void load_tile(const Tile& tile,
                                          const GlobalRows<const typename Tile::Element>& from) {
  static_assert(Tile::kRows * Tile::kChunks % kNumThreads == 0 || kNumThreads % Tile::kChunks == 0);
  constexpr int kPerChunk = Tile::kChunkElements;
#pragma unroll
  for (int k = static_cast<int>(threadIdx.x); k < Tile::kRows * Tile::kChunks; k += kNumThreads) {
    const int row = k / Tile::kChunks, chunk = k % Tile::kChunks;
    const bool is_row = row >= from.begin_row && row < from.num_rows;
    if (from.is_aligned) {
      const bool is_there = is_row && chunk * kPerChunk < from.head_dim;
      const auto* const source = from.data + row * from.row_stride + chunk * kPerChunk;
      ptx::cp_async_16(tile.chunk(row, chunk), is_there ? source : from.data, is_there);
    } else {
      for (int e = 0; e < kPerChunk; ++e) {
        const int column = chunk * kPerChunk + e;
        typename Tile::Element value = {};
        if (is_row && column < from.head_dim) {
          value = from.data[row * from.row_stride + column * from.column_stride];
        }
        tile.chunk(row, chunk)[e] = value;
      }
    }
  }
}

/// One warp writes rows first_row … first_row + kNumRows - 1 of the tile to the same rows of `to`.
template <int kNumRows, class Tile>
__device__ __forceinline__ void store_rows(const Tile& tile, int first_row,
                                           const GlobalRows<typename Tile::Element>& to) {
  constexpr int kPerChunk = Tile::kChunkElements;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int k = lane; k < kNumRows * Tile::kChunks; k += 32) {
    const int row = first_row + k / Tile::kChunks, chunk = k % Tile::kChunks;
    if (row >= to.num_rows || chunk * kPerChunk >= to.head_dim) continue;
    const typename Tile::Element* const from = tile.chunk(row, chunk);
    typename Tile::Element* const target = to.data + row * to.row_stride;
    if (to.is_aligned) {
      *reinterpret_cast<uint4*>(target + chunk * kPerChunk) = *reinterpret_cast<const uint4*>(from);
    } else {
      for (int e = 0; e < kPerChunk && chunk * kPerChunk + e < to.head_dim; ++e) {
        target[(chunk * kPerChunk + e) * to.column_stride] = from[e];
      }
    }
  }
}

}  // namespace flashlab::cuda
