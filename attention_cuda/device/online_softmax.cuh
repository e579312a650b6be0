// The softmax of a warp's rows, tile by tile, on sums in the layout of the tensor cores.
//
//   m' = max(m, rowmax S);  P = exp(S - m');  l = l exp(m - m') + rowsum P
//   O = O exp(m - m') + P V
//
// Everything is in powers of two: exp(scale (s - m)) = 2^(c (s - m)), c = scale log2(e), where m is the
// largest s. m may be an older one, by which c s is at most kLag too large. Then P is at most 2^kLag,
// which costs fp32 sums and 16-bit P no precision, and O is rarely rescaled. O / l is the same.
//
// A multiply-add of s, c and -(c m) rounds c m before it subtracts. So the largest weight is not exactly 1,
// but 2^e with |e| <= 2^-24 |c m|. Up to kLargestProduct it is 1 in bf16 and fp16, and beyond, (s - m) c
// takes its place: its large parts cancel before anything is rounded.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/ptx/exp2.cuh"

namespace flashlab::cuda {

inline constexpr float kLog2E = 1.44269504088896340736f, kLn2 = 0.693147180559945309417f;
inline constexpr float kLag = 8;
inline constexpr float kLargestProduct = 4096;

/// The rows that one lane shares with three other lanes: two for each 16 x 8 tile of sums.
template <int kRowTiles>
struct RowStatistics {
  float maximum[kRowTiles][2];  // m; -inf until a key is visible
  float sum[kRowTiles][2];      // l, this lane's part

  __device__ __forceinline__ RowStatistics() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      maximum[r][0] = maximum[r][1] = -INFINITY;
      sum[r][0] = sum[r][1] = 0;
    }
  }
};

/// The reductions over the four lanes that share a row.
__device__ __forceinline__ float row_maximum(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ __forceinline__ float row_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/// Raises m if a row of S exceeds it by too much, and rescales l and O. scale_log2: c, positive.
template <int kRowTiles, int kKeyTiles, int kColumnTiles>
__device__ __forceinline__ void raise_maximum(RowStatistics<kRowTiles>& rows,
                                              const float (&S)[kRowTiles][kKeyTiles][4],
                                              float scale_log2,
                                              float (&O)[kRowTiles][kColumnTiles][4]) {
  float raised[kRowTiles][2];
  bool is_raised = false;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = fmaxf(S[r][0][2 * half], S[r][0][2 * half + 1]);
#pragma unroll
      for (int n = 1; n < kKeyTiles; ++n) {
        largest = fmaxf(largest, fmaxf(S[r][n][2 * half], S[r][n][2 * half + 1]));
      }
      largest = row_maximum(largest);
      const float old = rows.maximum[r][half];
      raised[r][half] = (largest - old) * scale_log2 > kLag ? largest : old;
      is_raised |= raised[r][half] != old;
    }
  }
  if (!__any_sync(0xffffffffu, is_raised)) return;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float old = rows.maximum[r][half];
      const float rescale = raised[r][half] == old
                                ? 1.f  // also if both are -inf
                                : ptx::exp2_approximate((old - raised[r][half]) * scale_log2);
      rows.maximum[r][half] = raised[r][half];
      rows.sum[r][half] *= rescale;
#pragma unroll
      for (int n = 0; n < kColumnTiles; ++n) {
        O[r][n][2 * half] *= rescale;
        O[r][n][2 * half + 1] *= rescale;
      }
    }
  }
}

/// Replaces S by P and adds to l.
template <int kRowTiles, int kKeyTiles>
__device__ __forceinline__ void exponentiate(RowStatistics<kRowTiles>& rows,
                                             float (&S)[kRowTiles][kKeyTiles][4],
                                             float scale_log2) {
  float m[kRowTiles][2], product[kRowTiles][2];
  bool is_large = false;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float maximum = rows.maximum[r][half];
      m[r][half] = maximum == -INFINITY ? 0.f : maximum;  // -inf - -inf is NaN
      product[r][half] = m[r][half] * scale_log2;
      is_large |= fabsf(product[r][half]) > kLargestProduct;
    }
  }
  if (__any_sync(0xffffffffu, is_large)) {  // the large parts cancel before anything is rounded
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) S[r][n][e] -= m[r][e / 2];
      }
      product[r][0] = product[r][1] = 0;
    }
  }
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          S[r][n][e] = ptx::exp2_approximate(fmaf(S[r][n][e], scale_log2, -product[r][half]));
          rows.sum[r][half] += S[r][n][e];
        }
      }
    }
  }
}

}  // namespace flashlab::cuda
