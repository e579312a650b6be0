// How the forward kernels divide their problem among blocks: tiles, threads, shared memory. Kernels
// are compiled from these numbers, and kernel_tiles() tells them; no CUDA here. Tables have a row
// for each of kHeadDims. Log: docs/attention_cuda_log.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flashlab::cuda {

/// The head dims that kernels are compiled for; others run as the next one, padded with zeros.
inline constexpr int kHeadDims[] = {32, 64, 128, 256};

/// The row of a table by head_dim.
constexpr int head_dim_index(std::int64_t head_dim) {
  int index = 0;
  while (index < 3 && head_dim > kHeadDims[index]) ++index;
  return index;
}
constexpr int padded_head_dim(std::int64_t head_dim) { return kHeadDims[head_dim_index(head_dim)]; }

/// Tiles that cover a length.
constexpr std::int64_t num_tiles(std::int64_t length, std::int64_t tile) {
  return (length + tile - 1) / tile;
}

/// What a block has on compute capability 8.6 and 8.9, the least that the kernels run on.
inline constexpr int kLeastSharedBytes = 99 << 10;

/// Of the kernels that have a block for each row of S or of a tensor.
inline constexpr int kRowThreads = 256;
inline constexpr int kReduceFloats = kRowThreads / 32;  // in shared memory: one a warp

/// Key lengths stored in one launch: as many as fit in a kernel's 4 KiB of parameters.
inline constexpr int kKeyLengthsAtOnce = 256;

/// fused-softmax keeps a row of at most this many scores in shared memory: 48 KiB need no opt-in.
inline constexpr int kMostStoredKeys = (48 << 10) / 4 - kReduceFloats;

/// three-pass and online: one warp per query.
inline constexpr int kQueryWarps = 4;

struct Flash1Shape {
  static constexpr int kNumWarps = 4, kNumThreads = 32 * kNumWarps;
  static constexpr int kBlockQ = 64, kBlockKV = 32;  // one key per lane
  static constexpr int kStartThreads = 256;          // of the kernels before and after

  /// K and V, one query per warp, m and l.
  static constexpr int shared_bytes(int head_dim) {
    return 4 * ((2 * kBlockKV + kNumWarps) * head_dim + 2 * kBlockQ);
  }
};

/// flash2_fp32: warps of 4 rows_per_thread queries; kernels/flash2_fp32.cu.
struct Flash2Fp32Shape {
  int head_dim;  // the largest that it takes
  int num_warps, rows_per_thread, block_kv;
  int min_blocks;  // on a multiprocessor

  /// Floats between the ends of neighbouring rows of P, of Q.
  static constexpr int kPPadding = 4, kQPadding = 8;

  constexpr int block_q() const { return num_warps * 4 * rows_per_thread; }
  constexpr int num_threads() const { return 32 * num_warps; }
  /// Q, K, V and P.
  constexpr int shared_bytes() const {
    return 4 *
           (block_q() * (head_dim + kQPadding + block_kv + kPPadding) + 2 * block_kv * head_dim);
  }
};

/// For each head_dim the best first; the last has room where a block has kLeastSharedBytes.
inline constexpr Flash2Fp32Shape kFlash2Fp32Shapes[] = {
    // head_dim, warps, rows a thread, keys, blocks an SM
    {32, 4, 8, 64, 3},  {64, 4, 8, 64, 2},  {64, 8, 4, 64, 2},
    {64, 4, 8, 32, 3},  {128, 8, 4, 64, 1}, {128, 8, 8, 32, 1},
    {128, 4, 4, 32, 2}, {256, 8, 4, 32, 1}, {256, 4, 2, 16, 1}};
inline constexpr int kNumFlash2Fp32Shapes = sizeof(kFlash2Fp32Shapes) / sizeof(Flash2Fp32Shape);

/// Which of them runs where a block has so much shared memory; -1: none.
constexpr int flash2_fp32_shape(std::int64_t head_dim, std::int64_t shared_memory_bytes) {
  for (int index = 0; index < kNumFlash2Fp32Shapes; ++index) {
    const Flash2Fp32Shape& shape = kFlash2Fp32Shapes[index];
    if (head_dim <= shape.head_dim && shape.shared_bytes() <= shared_memory_bytes) return index;
  }
  return -1;
}

/// flash2 on tensor cores: warps of 16 row_tiles queries; kernels/flash2_mma_sm80.cuh.
struct Flash2Shape {
  int num_warps, row_tiles, block_kv;
  bool keeps_queries;  // in registers
  int min_blocks;      // on a multiprocessor

  constexpr int block_q() const { return num_warps * 16 * row_tiles; }
  constexpr int num_threads() const { return 32 * num_warps; }
  /// Q, and two tiles each of K and V.
  constexpr int shared_bytes(int head_dim, int element_bytes) const {
    return element_bytes * head_dim * (block_q() + 4 * block_kv);
  }
};

/// bf16 and fp16.
inline constexpr Flash2Shape kFlash2Shapes16[] = {
    // warps, row tiles, keys, Q in registers, blocks an SM
    {4, 2, 64, true, 2},
    {4, 2, 64, true, 2},
    {4, 2, 64, false, 2},
    {4, 1, 32, false, 2}};
/// float by tf32: rows are twice as long as 16-bit ones, and 99 KiB have to do.
inline constexpr Flash2Shape kFlash2ShapesTf32[] = {
    {4, 2, 32, false, 2}, {4, 2, 32, false, 2}, {4, 1, 32, false, 2}, {2, 1, 16, false, 2}};

}  // namespace flashlab::cuda
