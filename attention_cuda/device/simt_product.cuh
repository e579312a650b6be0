// Matrix products by fp32 multiply-adds, a warp at once, from shared memory into registers.
//
// The 32 lanes form a grid of 4 x 8. Lane (y, x) owns kRows rows and 8 / kColumns-fold columns:
//   rows      2y, 2y + 1, 2y + 8, 2y + 9, …   of the warp's 4 kRows rows
//   columns   x, x + 8, x + 16, …             of 8 kColumns (product of rows with rows)
//             4x … 4x + 3, 4x + 32, …         of 8 kColumns (product of rows with columns)
//
// Why so   a lane reads 16 bytes at once, and the hardware serves the halves of a warp one after
// the
//          other if lanes l and l ^ 1, or l and l ^ 2, want the same; quarters if not. So bit 0 of
//          the lane belongs to y and bit 1 to x. Rows lie kPadding floats more than a multiple of
//          32 apart: then 8 neighbours, and rows 2y too, start in different banks.
// Cost     rows with rows: kRows + kColumns 16-byte loads for 4 kRows kColumns multiply-adds
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda {

inline constexpr int kPadding = 4;

/// Where a lane stands.
struct LaneGrid {
  int y, x;  // 0 … 3, 0 … 7
};

__device__ __forceinline__ LaneGrid lane_grid(int lane) {
  return {(lane & 1) + 2 * (lane >> 4), (lane >> 1) & 7};
}

/// The r-th row of a lane, counted from its first one, 2y.
__host__ __device__ constexpr int row_of(int r) { return r % 2 + r / 2 * 8; }

/// The largest, or the sum, of a row: over the 8 lanes with the same y.
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

/// C += A B^T, the sum over kDepth neighbours in memory.
/// sA  the lane's first row (2y) of [.., kStrideA];  sB  the lane's first row (x) of [.., kStrideB]
template <int kDepth, int kStrideA, int kStrideB, int kUnroll, int kRows, int kColumns>
__device__ __forceinline__ void add_rows_times_rows(float (&rC)[kRows][kColumns], const float* sA,
                                                    const float* sB) {
#pragma unroll kUnroll
  for (int depth = 0; depth < kDepth; depth += 4) {
    float4 rB[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      rB[c] = *reinterpret_cast<const float4*>(sB + c * 8 * kStrideB + depth);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float4 rA = *reinterpret_cast<const float4*>(sA + row_of(r) * kStrideA + depth);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        rC[r][c] = fmaf(rA.x, rB[c].x, rC[r][c]);
        rC[r][c] = fmaf(rA.y, rB[c].y, rC[r][c]);
        rC[r][c] = fmaf(rA.z, rB[c].z, rC[r][c]);
        rC[r][c] = fmaf(rA.w, rB[c].w, rC[r][c]);
      }
    }
  }
}

/// C += A B, kColumns a multiple of 4.
/// sA  the lane's first row (2y) of [.., kStrideA];  sB  [kDepth, kStrideB] from the lane's first
/// column (4x) on
template <int kDepth, int kStrideA, int kStrideB, int kUnroll, int kRows, int kColumns>
__device__ __forceinline__ void add_rows_times_columns(float (&rC)[kRows][kColumns],
                                                       const float* sA, const float* sB) {
  static_assert(kColumns % 4 == 0);
#pragma unroll kUnroll
  for (int depth = 0; depth < kDepth; depth += 4) {
    float rA[kRows][4];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float4 a = *reinterpret_cast<const float4*>(sA + row_of(r) * kStrideA + depth);
      rA[r][0] = a.x, rA[r][1] = a.y, rA[r][2] = a.z, rA[r][3] = a.w;
    }
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int c = 0; c < kColumns; c += 4) {
        const float4 b = *reinterpret_cast<const float4*>(sB + (depth + step) * kStrideB + c * 8);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          rC[r][c + 0] = fmaf(rA[r][step], b.x, rC[r][c + 0]);
          rC[r][c + 1] = fmaf(rA[r][step], b.y, rC[r][c + 1]);
          rC[r][c + 2] = fmaf(rA[r][step], b.z, rC[r][c + 2]);
          rC[r][c + 3] = fmaf(rA[r][step], b.w, rC[r][c + 3]);
        }
      }
    }
  }
}

}  // namespace flashlab::cuda
