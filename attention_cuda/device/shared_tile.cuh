// A tile in shared memory: rows of kColumns elements, in chunks of 16 bytes. Chunk c of row r is
// stored at chunk c ^ (r's index among the rows that start a 128-byte line). So the eight rows that
// ldmatrix reads at once, at the same c, are in different banks:
//
//   rows of 128 bytes   0 1 2 3 4 5 6 7     rows of 64 bytes, two a line   0 1 2 3 | 0 1 2 3
//                       1 0 3 2 5 4 7 6                                    1 0 3 2 | 1 0 3 2
//                       2 3 0 1 6 7 4 5                                    2 3 0 1 | 2 3 0 1
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/ptx/cp_async.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

template <class ElementType, int kTileRows, int kTileColumns>
struct SharedTile {
  using Element = ElementType;
  static constexpr int kRows = kTileRows, kColumns = kTileColumns;
  static constexpr int kChunkElements = 16 / static_cast<int>(sizeof(Element));
  static constexpr int kChunks = kColumns / kChunkElements;
  static constexpr int kRowBytes = kChunks * 16, kBytes = kRows * kRowBytes;
  static constexpr int kPermuted = kChunks < 8 ? kChunks : 8;
  static_assert(kChunks * kChunkElements == kColumns && (kChunks & (kChunks - 1)) == 0,
                "rows are a power of two of chunks");

  Element* data;  // 128-byte aligned

  __device__ __forceinline__ Element* chunk(int row, int index) const {
    const int permutation = row / (8 / kPermuted) % kPermuted;
    return data + row * kColumns + (index ^ permutation) * kChunkElements;
  }
  __device__ __forceinline__ Element* at(int row, int column) const {
    return chunk(row, column / kChunkElements) + column % kChunkElements;
  }
};

/// One row of a tile for a lane, and the rows at multiples of 8 below it, in one register: the
/// address of an even chunk differs by an xor of low bits and a constant offset. Lanes with
/// lane_bit 1 use the next chunk instead.
template <class Tile>
class LaneRow {
 public:
  __device__ __forceinline__ LaneRow(const Tile& tile, int row, int lane_bit, int byte = 0) {
    const int permuted = row / (8 / Tile::kPermuted) % Tile::kPermuted ^ lane_bit;
    first_ = ptx::opaque(ptx::shared_address(tile.data) +
                         static_cast<unsigned>(row * Tile::kRowBytes + permuted * 16 + byte));
  }
  /// Moves to the same place in another tile of this shape, whose rows begin `bytes` later: a multiple
  /// of 8 rows.
  __device__ __forceinline__ void move(int bytes) {
    first_ += static_cast<ptx::SharedAddress>(bytes);
  }
  /// Returns the address of chunk `index` (even, + lane_bit), `rows` below; both are
  /// constants after unrolling.
  __device__ __forceinline__ ptx::SharedAddress at(int rows, int index) const {
    const int low = index % Tile::kPermuted;
    return (first_ ^ static_cast<unsigned>(low * 16)) +
           static_cast<unsigned>(rows * Tile::kRowBytes + (index - low) * 16);
  }
  /// After this, at() counts from chunk `index`, a multiple of the number of chunks used
  /// from then on.
  __device__ __forceinline__ void skip_chunks(int index) {
    const int low = index % Tile::kPermuted;
    first_ = ptx::opaque((first_ ^ static_cast<unsigned>(low * 16)) +
                         static_cast<unsigned>((index - low) * 16));
  }

 private:
  ptx::SharedAddress first_;
};

/// Rows of one head in global memory, from a first row on.
template <class Element>
struct GlobalRows {
  Element* data;  // start of the first row
  std::int64_t row_stride, column_stride;
  int num_rows, head_dim;  // elements beyond count as 0
  bool is_aligned;         // DeviceTensor::has_aligned_rows
};

template <class Element>
__device__ __forceinline__ GlobalRows<Element> global_rows(const DeviceTensor<Element>& tensor,
                                                           int b, int h, int first_row, int end_row,
                                                           int head_dim, bool is_aligned) {
  return {tensor.row(b, h, first_row), tensor.row_stride, tensor.column_stride,
          end_row - first_row,         head_dim,          is_aligned};
}

/// Loads tiles of consecutive rows one after another, with all threads of the block; missing
/// elements become 0. Each thread loads one chunk of every kRowStep-th row, so it only needs the
/// address of its next chunk.
template <int kNumThreads, class Tile>
class TileStream {
 public:
  using Element = typename Tile::Element;

  __device__ __forceinline__ explicit TileStream(const GlobalRows<const Element>& rows,
                                                 int thread = static_cast<int>(threadIdx.x))
      : thread_(thread),
        row_stride_(rows.row_stride),
        column_stride_(rows.column_stride),
        is_aligned_(rows.is_aligned) {
    const int row = thread_ / Tile::kChunks;
    const int column = thread_ % Tile::kChunks * Tile::kChunkElements;
    num_columns_ = rows.head_dim - column;
    num_rows_ = rows.num_rows - row;
    source_ = rows.data + row * row_stride_ + column * column_stride_;
  }

  /// Loads the next tile. The caller closes the group with cp_async_commit and waits for it.
  __device__ __forceinline__ void load(const Tile& tile) {
    if (is_aligned_) {
      load_chunks(tile);
    } else {
      load_elements(tile);
    }
    skip(Tile::kRows);
  }
  /// The next tile starts `rows` rows later.
  __device__ __forceinline__ void skip(int rows) {
    source_ += rows * row_stride_;
    num_rows_ -= rows;
  }

 private:
  static_assert(kNumThreads % Tile::kChunks == 0, "a thread keeps its chunk");
  static_assert(Tile::kRowBytes % 32 == 0, "a sector in two parts would be fetched twice");
  static constexpr int kRowStep = kNumThreads / Tile::kChunks;
  static_assert(Tile::kRows % kRowStep == 0, "each thread takes as many rows");

  __device__ __forceinline__ void load_chunks(const Tile& tile) const {
    const int row = thread_ / Tile::kChunks, chunk = thread_ % Tile::kChunks;
    const Element* source = source_;
    const ptx::SharedAddress first = ptx::opaque(ptx::shared_address(tile.chunk(row, chunk)));
#pragma unroll
    for (int i = 0; i < Tile::kRows; i += kRowStep) {
      const ptx::SharedAddress to =  // rows 8 apart have the same permutation
          kRowStep % 8 == 0 ? first + static_cast<unsigned>(i * Tile::kRowBytes)
                            : ptx::shared_address(tile.chunk(row + i, chunk));
      ptx::cp_async_16(to, source, i < num_rows_ && num_columns_ > 0);
      source += kRowStep * row_stride_;
    }
  }

  __device__ __forceinline__ void load_elements(const Tile& tile) const {
    const int row = thread_ / Tile::kChunks, chunk = thread_ % Tile::kChunks;
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

  int thread_;
  const Element* source_;
  std::int64_t row_stride_, column_stride_;
  int num_rows_, num_columns_;  // from this thread's first row and column on
  bool is_aligned_;
};

template <int kNumThreads, class Tile>
__device__ __forceinline__ void load_tile(const Tile& tile,
                                          const GlobalRows<const typename Tile::Element>& from) {
  // Recomputed: values derived from it would otherwise occupy registers between two loads.
  const int thread = static_cast<int>(ptx::opaque(threadIdx.x));
  TileStream<kNumThreads, Tile>(from, thread).load(tile);
}

/// Like load_tile, but rows before begin_row are not read and count as 0. Slow, for few tiles: it
/// copies element by element, and has finished for this thread when it returns.
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

/// Returns kNumRows rows of a tile, from first_row on, a multiple of 8.
template <int kNumRows, class Tile>
__device__ __forceinline__ auto rows_from(const Tile& tile, int first_row) {
  using Element = typename Tile::Element;
  return SharedTile<Element, kNumRows, Tile::kColumns>{tile.data + first_row * Tile::kColumns};
}

/// One warp writes the tile's valid rows.
template <class Tile>
__device__ __forceinline__ void store_rows(const Tile& tile,
                                           const GlobalRows<typename Tile::Element>& to) {
  constexpr int kPerChunk = Tile::kChunkElements;
  for (int k = static_cast<int>(threadIdx.x) % 32; k < Tile::kRows * Tile::kChunks; k += 32) {
    const int row = k / Tile::kChunks, chunk = k % Tile::kChunks;
    if (row >= to.num_rows || chunk * kPerChunk >= to.head_dim) continue;
    const typename Tile::Element* const from = tile.chunk(row, chunk);
    typename Tile::Element* const target =
        to.data + row * to.row_stride + chunk * kPerChunk * to.column_stride;
    if (to.is_aligned) {
      *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(from);
    } else {
      for (int e = 0; e < kPerChunk && chunk * kPerChunk + e < to.head_dim; ++e) {
        target[e * to.column_stride] = from[e];
      }
    }
  }
}

}  // namespace flashlab::cuda
