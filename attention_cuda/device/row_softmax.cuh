// The statistics of a row of S, m = max and l = sum exp(S - m), where all of them may be -inf.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace flashlab::cuda {

/// What is subtracted before exp: m, but 0 while nothing visible has come, for -inf - -inf is NaN.
__device__ __forceinline__ float shift_of(float row_max) {
  return row_max == -INFINITY ? 0.f : row_max;
}

/// What the numerators are divided by: 1 for a row without weights, whose O is 0.
__device__ __forceinline__ float divisor_of(float row_sum) { return row_sum == 0 ? 1.f : row_sum; }

/// O of its numerator: 0 for a row without weights, whatever V holds.
__device__ __forceinline__ float normalised(float numerator, float row_sum) {
  return row_sum == 0 ? 0.f : numerator / row_sum;
}

/// m + log l, -inf for a row without weights.
__device__ __forceinline__ float logsumexp(float row_max, float row_sum) {
  return row_sum == 0 ? -INFINITY : row_max + logf(row_sum);
}

/// m and l of a part of a row.
struct RowState {
  float row_max = -INFINITY, row_sum = 0;
};

/// Of two parts together.
__device__ __forceinline__ RowState merge(RowState a, RowState b) {
  const float row_max = fmaxf(a.row_max, b.row_max), shift = shift_of(row_max);
  return {row_max, a.row_sum * expf(a.row_max - shift) + b.row_sum * expf(b.row_max - shift)};
}

}  // namespace flashlab::cuda
