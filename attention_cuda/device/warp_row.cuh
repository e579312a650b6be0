// A row of head_dim numbers distributed over a warp: lane l has columns l, l + 32, …; columns
// beyond head_dim are 0. For any strides, adjacent lanes read adjacent columns.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/row_softmax.cuh"

namespace flashlab::cuda {

template <int kHeadDim>
struct WarpRow {
  static constexpr int kPerLane = kHeadDim / kWarpSize;
  float at[kPerLane] = {};
};

/// The rows of a head in global memory.
template <class Element>
struct HeadRows {
  Element* head;
  std::int64_t row_stride, column_stride;
  int head_dim;
};

template <int kHeadDim>
__device__ __forceinline__ WarpRow<kHeadDim> load_row(const HeadRows<const float>& from, int row) {
  const float* const first = from.head + row * from.row_stride;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  WarpRow<kHeadDim> loaded;
#pragma unroll
  for (int k = 0; k < WarpRow<kHeadDim>::kPerLane; ++k) {
    const int column = lane + kWarpSize * k;
    if (column < from.head_dim) loaded.at[k] = first[column * from.column_stride];
  }
  return loaded;
}

template <int kHeadDim>
__device__ __forceinline__ void store_row(const WarpRow<kHeadDim>& values,
                                          const HeadRows<float>& to, int row) {
  float* const first = to.head + row * to.row_stride;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
#pragma unroll
  for (int k = 0; k < WarpRow<kHeadDim>::kPerLane; ++k) {
    const int column = lane + kWarpSize * k;
    if (column < to.head_dim) first[column * to.column_stride] = values.at[k];
  }
}

/// Returns a . b in every lane.
template <int kHeadDim>
__device__ __forceinline__ float dot(const WarpRow<kHeadDim>& a, const WarpRow<kHeadDim>& b) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < WarpRow<kHeadDim>::kPerLane; ++k) sum = fmaf(a.at[k], b.at[k], sum);
  return warp_sum(sum);
}

/// sum = factor sum + weight row
template <int kHeadDim>
__device__ __forceinline__ void scale_and_add(WarpRow<kHeadDim>& sum, float factor, float weight,
                                              const WarpRow<kHeadDim>& row) {
#pragma unroll
  for (int k = 0; k < WarpRow<kHeadDim>::kPerLane; ++k) {
    sum.at[k] = fmaf(weight, row.at[k], factor * sum.at[k]);
  }
}

/// Returns O from its numerator.
template <int kHeadDim>
__device__ __forceinline__ WarpRow<kHeadDim> normalised(WarpRow<kHeadDim> numerator,
                                                        float row_sum) {
#pragma unroll
  for (int k = 0; k < WarpRow<kHeadDim>::kPerLane; ++k) {
    numerator.at[k] = normalised(numerator.at[k], row_sum);
  }
  return numerator;
}

template <class Element>
__device__ __forceinline__ HeadRows<Element> head_rows(const DeviceTensor<Element>& tensor, int b,
                                                       int h, int head_dim) {
  return {tensor.head(b, h), tensor.row_stride, tensor.column_stride, head_dim};
}

}  // namespace flashlab::cuda
