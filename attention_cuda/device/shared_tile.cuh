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

  static constexpr int kRowBytes = kChunks * 16;

  Element* data;  // 128-byte aligned

  __device__ __forceinline__ static int permutation(int row) {
    return row / (8 / kPermuted) % kPermuted;
  }
  __device__ __forceinline__ Element* chunk(int row, int index) const {
    return data + row * kColumns + (index ^ permutation(row)) * kChunkElements;
  }
  /// Chunk index + lane_index of row row + lane_row, where row and lane_row, index and lane_index
  /// have no bits in common as far as 8 rows and kPermuted chunks go. With row and index constants,
  /// all the chunks that a lane meets are one register, one xor and a constant away.
  __device__ __forceinline__ Element* chunk(int row, int lane_row, int index,
                                            int lane_index) const {
    const int low = index % kPermuted;
    const int lane_bytes = lane_row * kRowBytes + (permutation(lane_row) ^ lane_index) * 16;
    const int constant_bytes = row * kRowBytes + (index - low) * 16;
    return reinterpret_cast<Element*>(reinterpret_cast<unsigned char*>(data) +
                                      (lane_bytes ^ (low ^ permutation(row)) * 16) +
                                      constant_bytes);
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
};

template <class Element>
__device__ __forceinline__ GlobalRows<Element> global_rows(const DeviceTensor<Element>& tensor,
                                                           int b, int h, int first_row, int end_row,
                                                           int head_dim, bool is_aligned) {
  return {tensor.row(b, h, first_row), tensor.row_stride, tensor.column_stride,
          end_row - first_row,         head_dim,          is_aligned};
}

/// Tiles of consecutive rows, loaded one after the other by the block's threads; what is not there
/// becomes 0. Each thread takes one chunk of every kRowStep-th row, so that all it has to remember
/// is where its next one is.
template <int kNumThreads, class Tile>
class TileStream {
 public:
  using Element = typename Tile::Element;

  __device__ __forceinline__ explicit TileStream(const GlobalRows<const Element>& rows)
      : row_stride_(rows.row_stride),
        column_stride_(rows.column_stride),
        is_aligned_(rows.is_aligned) {
    const int row = static_cast<int>(threadIdx.x) / Tile::kChunks;
    const int column = static_cast<int>(threadIdx.x) % Tile::kChunks * Tile::kChunkElements;
    num_columns_ = rows.head_dim - column;
    num_rows_ = rows.num_rows - row;
    source_ = rows.data + row * row_stride_ + column * column_stride_;
  }

  /// The next tile. To be closed with cp_async_commit and waited for.
  __device__ __forceinline__ void load(const Tile& tile) {
    if (is_aligned_) {
      load_chunks(tile);
    } else {
      load_elements(tile);
    }
    source_ += Tile::kRows * row_stride_;
    num_rows_ -= Tile::kRows;
  }

 private:
  static_assert(kNumThreads % Tile::kChunks == 0, "a thread keeps its chunk");
  static constexpr int kRowStep = kNumThreads / Tile::kChunks;
  static_assert(Tile::kRows % kRowStep == 0, "each thread takes as many rows");

  __device__ __forceinline__ void load_chunks(const Tile& tile) const {
    const int row = static_cast<int>(threadIdx.x) / Tile::kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % Tile::kChunks;
    const Element* source = source_;
#pragma unroll
    for (int i = 0; i < Tile::kRows; i += kRowStep) {
      ptx::cp_async_16(tile.chunk(row + i, chunk), source, i < num_rows_ && num_columns_ > 0);
      source += kRowStep * row_stride_;
    }
  }

  __device__ __forceinline__ void load_elements(const Tile& tile) const {
    const int row = static_cast<int>(threadIdx.x) / Tile::kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % Tile::kChunks;
#pragma unroll 1
    for (int i = 0; i < Tile::kRows; i += kRowStep) {
#pragma unroll 1
      for (int e = 0; e < Tile::kChunkElements; ++e) {
        Element value = {};
        if (i < num_rows_ && e < num_columns_) {
          value = source_[i * row_stride_ + e * column_stride_];
        }
        tile.chunk(row + i, chunk)[e] = value;
      }
    }
  }

  const Element* source_;
  std::int64_t row_stride_, column_stride_;
  int num_rows_, num_columns_;  // from this thread's first row and column on
  bool is_aligned_;
};

template <int kNumThreads, class Tile>
__device__ __forceinline__ void load_tile(const Tile& tile,
                                          const GlobalRows<const typename Tile::Element>& from) {
  TileStream<kNumThreads, Tile>(from).load(tile);
}

/// As load_tile, but rows before begin_row count as 0 and are not read either. For tiles of which
/// there are few: element by element, and there for this thread when the function returns.
template <int kNumThreads, class Tile>
__device__ __forceinline__ void load_tile_from_row(
    const Tile& tile, const GlobalRows<const typename Tile::Element>& from, int begin_row) {
#pragma unroll 1
  for (int k = static_cast<int>(threadIdx.x); k < Tile::kRows * Tile::kColumns; k += kNumThreads) {
    const int row = k / Tile::kColumns, column = k % Tile::kColumns;
    typename Tile::Element value = {};
    if (row >= begin_row && row < from.num_rows && column < from.head_dim) {
      value = from.data[row * from.row_stride + column * from.column_stride];
    }
    *tile.at(row, column) = value;
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
