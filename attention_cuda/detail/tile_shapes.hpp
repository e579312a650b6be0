// The division of a forward problem among blocks: tiles, threads, shared memory. Kernels are
// compiled with these numbers, and kernel_tiles() returns them; no CUDA here. Tables have a row for
// each of kHeadDims. Log of measurements: docs/attention_cuda_log.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flashlab::cuda {

/// The head dims of compiled kernels; others use the next larger one, padded with zeros.
inline constexpr int kHeadDims[] = {32, 64, 128, 256};

/// Returns the row of a table for a head_dim.
constexpr int head_dim_index(std::int64_t head_dim) {
  int index = 0;
  while (index < 3 && head_dim > kHeadDims[index]) ++index;
  return index;
}
constexpr int padded_head_dim(std::int64_t head_dim) { return kHeadDims[head_dim_index(head_dim)]; }

/// Returns the number of tiles that cover a length.
constexpr std::int64_t num_tiles(std::int64_t length, std::int64_t tile) {
  return (length + tile - 1) / tile;
}

/// Shared memory of a block on compute capability 8.6 and 8.9, the minimum that kernels support.
inline constexpr int kLeastSharedBytes = 99 << 10;

/// Threads of kernels with one block per row of S or of a tensor.
inline constexpr int kRowThreads = 256;
inline constexpr int kReduceFloats = kRowThreads / 32;  // in shared memory, one per warp

/// Key lengths per launch: as many as fit a kernel's 4 KiB of parameters.
inline constexpr int kNumbersAtOnce = 256;
/// Threads of a block that fills the tables of packed sequences.
inline constexpr int kRangeThreads = 256;

/// three-pass and online: one warp per query.
inline constexpr int kQueryWarps = 4;

/// The kernel that merges partial results, with one block per row.
struct MergeShape {
  static constexpr int kNumWarps = 8, kNumThreads = 32 * kNumWarps;
  static constexpr int shared_bytes(int head_dim) { return kNumWarps * (1 + head_dim) * 4; }
};

}  // namespace flashlab::cuda
