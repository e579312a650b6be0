// The statistics of queries for the backward kernels, computed before them:
//
//   delta = rowsum(dO o O) = rowsum(P o dP)
//
// Shapes   O, dO [batch, num_heads, seqlen_q, head_dim], any strides
//          delta [batch, num_heads, seqlen_q] fp32, contiguous, in the workspace
// Grid     DeltaShape::lanes per row, as many rows per block as it has threads for
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

/// One number per query, [batch, num_heads, seqlen_q], contiguous.
template <class Number>
DeviceTensor<Number> per_query(Number* data, const Sizes& sizes) {
  return {data, static_cast<std::int64_t>(sizes.num_heads) * sizes.seqlen_q, sizes.seqlen_q, 1, 1};
}

/// A lane's part of the sum over a row's elements: chunks of 16 bytes, `lanes` apart.
template <class Element>
__device__ __forceinline__ float sum_of_chunks(const Element* O, const Element* dO, int head_dim,
                                               int lane, int lanes) {
  constexpr int kElements = 16 / static_cast<int>(sizeof(Element));
  struct alignas(16) Chunk {
    Element elements[kElements];
  };
  float sum = 0.f;
  for (int c = lane * kElements; c < head_dim; c += lanes * kElements) {
    const Chunk o = *reinterpret_cast<const Chunk*>(O + c);
    const Chunk gradient = *reinterpret_cast<const Chunk*>(dO + c);
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      sum = fmaf(ptx::to_float(gradient.elements[e]), ptx::to_float(o.elements[e]), sum);
    }
  }
  return sum;
}

/// A lane's part of delta of one query. is_aligned: 16 bytes of O and of dO can be loaded at once.
template <class Element>
__device__ __forceinline__ float part_of_delta(const BackwardArguments<Element>& arguments, int b,
                                               int h, int i, int lane, int lanes, bool is_aligned) {
  const int head_dim = arguments.sizes.head_dim;
  const Element* const O = arguments.O.row(b, h, i);
  const Element* const dO = arguments.dO.row(b, h, i);
  if (is_aligned) return sum_of_chunks(O, dO, head_dim, lane, lanes);
  float sum = 0.f;
  for (int c = lane; c < head_dim; c += lanes) {
    sum = fmaf(ptx::to_float(dO[c * arguments.dO.column_stride]),
               ptx::to_float(O[c * arguments.O.column_stride]), sum);
  }
  return sum;
}

template <class Element>
__host__ __device__ bool has_aligned_outputs(const BackwardArguments<Element>& arguments) {
  return arguments.O.has_aligned_rows(arguments.sizes.head_dim) &&
         arguments.dO.has_aligned_rows(arguments.sizes.head_dim);
}

/// rounded_lse null: rounds nothing.
template <class Element>
__global__ void __launch_bounds__(DeltaShape::kNumThreads)
    delta_kernel(const BackwardArguments<Element> arguments, float* delta, float* rounded_lse,
                 int lanes, bool is_aligned) {
  const Sizes& sizes = arguments.sizes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t row =
      (static_cast<std::int64_t>(blockIdx.x) * DeltaShape::kNumThreads + threadIdx.x) / lanes;
  const std::int64_t head = row / sizes.seqlen_q;
  const bool is_row = head < static_cast<std::int64_t>(sizes.batch) * sizes.num_heads;
  const int i = static_cast<int>(row % sizes.seqlen_q);
  const int b = static_cast<int>(head / sizes.num_heads);
  const int h = static_cast<int>(head % sizes.num_heads);

  float sum = is_row ? part_of_delta(arguments, b, h, i, lane, lanes, is_aligned) : 0.f;
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (!is_row) return;
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
  const DeltaShape shape = {sizes.head_dim, static_cast<int>(sizeof(Element))};
  launch(call, "delta_kernel", delta_kernel<Element>,
         {num_tiles(rows, shape.num_rows()), DeltaShape::kNumThreads}, arguments, delta,
         rounded_lse, shape.lanes(), has_aligned_outputs(arguments));
}

/// Returns the same arguments with a contiguous lse [batch, num_heads, seqlen_q].
template <class Element>
BackwardArguments<Element> with_lse(BackwardArguments<Element> arguments, const float* lse) {
  arguments.lse = per_query(lse, arguments.sizes);
  return arguments;
}

}  // namespace flashlab::cuda
