// Operations on four consecutive columns of a row of fp32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace flashlab::cuda {

/// Loads four columns of a row; columns beyond head_dim are 0.
__device__ __forceinline__ float4 load_four(const float* row, std::int64_t column_stride,
                                            int column, int head_dim, bool is_aligned) {
  if (is_aligned) {
    return column < head_dim ? __ldg(reinterpret_cast<const float4*>(row + column))
                             : make_float4(0, 0, 0, 0);
  }
  float values[4] = {};
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (column + e < head_dim) values[e] = row[(column + e) * column_stride];
  }
  return make_float4(values[0], values[1], values[2], values[3]);
}

__device__ __forceinline__ float dot(float4 a, float4 b) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, a.w * b.w)));
}

__device__ __forceinline__ void add_multiple(float4& sum, float weight, float4 row) {
  sum.x = fmaf(weight, row.x, sum.x);
  sum.y = fmaf(weight, row.y, sum.y);
  sum.z = fmaf(weight, row.z, sum.z);
  sum.w = fmaf(weight, row.w, sum.w);
}

__device__ __forceinline__ void scale_by(float4& row, float factor) {
  row.x *= factor, row.y *= factor, row.z *= factor, row.w *= factor;
}

}  // namespace flashlab::cuda
