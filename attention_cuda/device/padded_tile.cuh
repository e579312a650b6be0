// A tile in shared memory with kPadding more floats per row, so that consecutive rows start in
// different banks. load_tile of device/shared_tile.cuh fills it.
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda {

template <int kTileRows, int kTileColumns, int kPadding>
struct PaddedTile {
  using Element = float;
  static constexpr int kRows = kTileRows, kColumns = kTileColumns;
  static constexpr int kStride = kColumns + kPadding;
  static constexpr int kChunkElements = 4;  // 16 bytes
  static constexpr int kChunks = kColumns / kChunkElements;
  static constexpr int kRowBytes = kStride * 4, kBytes = kRows * kRowBytes;
  static_assert(kColumns % kChunkElements == 0 && kPadding % kChunkElements == 0);

  float* data;  // 16-byte aligned

  __device__ __forceinline__ float* row(int index) const { return data + index * kStride; }
  __device__ __forceinline__ float* chunk(int row_index, int index) const {
    return row(row_index) + index * kChunkElements;
  }
};

}  // namespace flashlab::cuda
