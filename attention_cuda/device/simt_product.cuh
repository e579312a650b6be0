// Matrix products of one warp with fp32 multiply-adds, from shared memory into registers.
//
// The 32 lanes form a grid of 4 x 8. Lane (y, x) owns kRows rows and kColumns columns:
//   rows      2y, 2y + 1, 2y + 8, 2y + 9, …   of the warp's 4 kRows rows
//   columns   x, x + 8, x + 16, …             of 8 kColumns (product of rows with rows)
//             4x … 4x + 3, 4x + 32, …         of 8 kColumns (product of rows with columns)
//
// Lanes    A lane reads 16 bytes at once. The hardware serves half a warp at a time if lanes l and
//          l ^ 1, or l and l ^ 2, read the same bytes, otherwise a quarter. So bit 0 of the lane
//          belongs to y and bit 1 to x.
// Banks    The stride of A's rows is 4 or 8 floats more than a multiple of 32: rows 2y, two of
//          which half a warp reads, start in different banks. The stride of B's rows is a multiple
//          of 32, and half a warp reads 8 consecutive rows. Their chunks of 16 bytes are permuted:
//          chunk c of row r is at c ^ r % 8.
// Sectors  cp.async fetches a sector of 32 bytes twice if its halves are stored to different
//          sectors of shared memory. This happens in every second row if the stride is an odd
//          number of chunks. Tiles that it fills have an even number, and the permutation
//          keeps pairs together.
// Cost     rows with rows: kRows + kColumns 16-byte loads for 4 kRows kColumns multiply-adds
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda {

/// The position of a lane in the grid.
struct LaneGrid {
  int y, x;  // 0 … 3, 0 … 7
};

__device__ __forceinline__ LaneGrid lane_grid(int lane) {
  return {(lane & 1) + 2 * (lane >> 4), (lane >> 1) & 7};
}

/// Returns the r-th row of a lane, relative to its first row, 2y.
__host__ __device__ constexpr int row_of(int r) { return r % 2 + r / 2 * 8; }

/// Returns the maximum, or the sum, of a row: over the 8 lanes with the same y.
__device__ __forceinline__ float max_over_x(float value) {
#pragma unroll
  for (int distance = 2; distance <= 8; distance *= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}
__device__ __forceinline__ float sum_over_x(float value) {
#pragma unroll
  for (int distance = 2; distance <= 8; distance *= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

/// Loads 16 bytes at once.
__device__ __forceinline__ void load_four(float (&to)[4], const float* shared) {
  const float4 four = *reinterpret_cast<const float4*>(shared);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/// C += A B^T, where the summed index is contiguous in memory.
/// sA  the lane's first row (2y) of [.., kStrideA]
/// sB  the lane's first row (x) of [.., kStrideB], whose column d is at d ^ permutation, 4x
template <int kDepth, int kStrideA, int kStrideB, int kUnroll, int kRows, int kColumns>
__device__ __forceinline__ void add_rows_times_rows(float (&rC)[kRows][kColumns], const float* sA,
                                                    const float* sB, int permutation) {
#pragma unroll kUnroll
  for (int depth = 0; depth < kDepth; depth += 4) {
    const float* const sB_chunk = sB + (depth ^ permutation);
    float rB[kColumns][4];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) load_four(rB[c], sB_chunk + c * 8 * kStrideB);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float rA[4];
      load_four(rA, sA + row_of(r) * kStrideA + depth);
#pragma unroll
      for (int step = 0; step < 4; ++step) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) rC[r][c] = fmaf(rA[step], rB[c][step], rC[r][c]);
      }
    }
  }
}

/// C += A B; kColumns is a multiple of 4.
/// sA  the lane's first row (2y) of [.., kStrideA]
/// sB  [kDepth, kStrideB] from the lane's first column (4x) on
template <int kDepth, int kStrideA, int kStrideB, int kUnroll, int kRows, int kColumns>
__device__ __forceinline__ void add_rows_times_columns(float (&rC)[kRows][kColumns],
                                                       const float* sA, const float* sB) {
  static_assert(kColumns % 4 == 0);
#pragma unroll kUnroll
  for (int depth = 0; depth < kDepth; depth += 4) {
    float rA[kRows][4];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      load_four(rA[r], sA + row_of(r) * kStrideA + depth);
    }
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int c = 0; c < kColumns; c += 4) {
        float rB[4];
        load_four(rB, sB + (depth + step) * kStrideB + c * 8);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int e = 0; e < 4; ++e) rC[r][c + e] = fmaf(rA[r][step], rB[e], rC[r][c + e]);
        }
      }
    }
  }
}

}  // namespace flashlab::cuda
