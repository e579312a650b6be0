// The statistics of a row of S, m = max and l = sum exp(S - m), also for rows of only -inf.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace flashlab::cuda {

/// Returns the value to subtract before exp: m, or 0 if no key is visible yet, because -inf -
/// -inf is NaN.
__device__ __forceinline__ float shift_of(float row_max) {
  return row_max == -INFINITY ? 0.f : row_max;
}

/// Returns the divisor of the numerators: l, or 1 for a row without weights, whose O is 0.
__device__ __forceinline__ float divisor_of(float row_sum) { return row_sum == 0 ? 1.f : row_sum; }

/// Returns O from its numerator: 0 for a row without weights, for any V.
__device__ __forceinline__ float normalised(float numerator, float row_sum) {
  return row_sum == 0 ? 0.f : numerator / row_sum;
}

/// Returns m + log l, or -inf for a row without weights.
__device__ __forceinline__ float logsumexp(float row_max, float row_sum) {
  return row_sum == 0 ? -INFINITY : row_max + logf(row_sum);
}

/// m and l for a part of a row.
struct RowState {
  float row_max = -INFINITY, row_sum = 0;
};

/// Returns the state of both parts together.
__device__ __forceinline__ RowState merge(RowState a, RowState b) {
  const float row_max = fmaxf(a.row_max, b.row_max), shift = shift_of(row_max);
  return {row_max, a.row_sum * expf(a.row_max - shift) + b.row_sum * expf(b.row_max - shift)};
}

}  // namespace flashlab::cuda
