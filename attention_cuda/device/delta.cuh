// The statistics of queries for the backward kernels, computed before them:
//
//   delta = rowsum(dO o O) = rowsum(P o dP)
//
// Shapes   O, dO [batch, num_heads, seqlen_q, head_dim], any strides
//          delta [batch, num_heads, seqlen_q] fp32, contiguous, in the workspace
// Grid     one warp per row, kWarps rows per block
// Rounded  with ExecutionOptions::round_statistics: delta and a copy of lse, both rounded to
//          Element and stored as fp32; with_lse gives kernels the copy instead of lse
// Traffic  O and dO once
// Source   Dao 2023, FlashAttention-2, Algorithm 2, line 4
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ptx/convert.cuh"

namespace flashlab::cuda {

namespace delta_config {
inline constexpr int kWarpSize = 32;
inline constexpr int kWarps = DeltaShape::kNumWarps, kNumThreads = DeltaShape::kNumThreads;
}  // namespace delta_config

/// One number per query, [batch, num_heads, seqlen_q], contiguous.
template <class Number>
DeviceTensor<Number> per_query(Number* data, const Sizes& sizes) {
  return {data, static_cast<std::int64_t>(sizes.num_heads) * sizes.seqlen_q, sizes.seqlen_q, 1, 1};
}

/// rounded_lse null: rounds nothing.
template <class Element>
__global__ void __launch_bounds__(delta_config::kNumThreads)
    delta_kernel(const BackwardArguments<Element> arguments, float* delta, float* rounded_lse) {
  const Sizes& sizes = arguments.sizes;
  const int lane = threadIdx.x % delta_config::kWarpSize;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * delta_config::kWarps +
                           threadIdx.x / delta_config::kWarpSize;
  const std::int64_t head = row / sizes.seqlen_q;
  if (head >= static_cast<std::int64_t>(sizes.batch) * sizes.num_heads) return;
  const int i = static_cast<int>(row % sizes.seqlen_q);
  const int b = static_cast<int>(head / sizes.num_heads);
  const int h = static_cast<int>(head % sizes.num_heads);

  const Element* const O = arguments.O.row(b, h, i);
  const Element* const dO = arguments.dO.row(b, h, i);
  float sum = 0.f;
  for (int c = lane; c < sizes.head_dim; c += delta_config::kWarpSize) {
    sum = fmaf(ptx::to_float(dO[c * arguments.dO.column_stride]),
               ptx::to_float(O[c * arguments.O.column_stride]), sum);
  }
  for (int distance = delta_config::kWarpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (lane != 0) return;
  if (rounded_lse == nullptr) {
    delta[row] = sum;
  } else {
    delta[row] = ptx::to_float(ptx::from_float<Element>(sum));
    rounded_lse[row] = ptx::to_float(ptx::from_float<Element>(*arguments.lse.row(b, h, i)));
  }
}

/// Computes delta and, unless null, rounded_lse: [batch, num_heads, seqlen_q] in device memory.
template <class Element>
void launch_delta(const Call& call, const BackwardArguments<Element>& arguments, float* delta,
                  float* rounded_lse = nullptr) {
  const Sizes& sizes = arguments.sizes;
  const std::int64_t rows =
      static_cast<std::int64_t>(sizes.batch) * sizes.num_heads * sizes.seqlen_q;
  launch(call, "delta_kernel", delta_kernel<Element>,
         {(rows + delta_config::kWarps - 1) / delta_config::kWarps, delta_config::kNumThreads},
         arguments, delta, rounded_lse);
}

/// Returns the same arguments with a contiguous lse [batch, num_heads, seqlen_q].
template <class Element>
BackwardArguments<Element> with_lse(BackwardArguments<Element> arguments, const float* lse) {
  arguments.lse = per_query(lse, arguments.sizes);
  return arguments;
}

}  // namespace flashlab::cuda
