// The statistics of queries for the backward kernels, computed before them:
//
//   delta = rowsum(dO o O) = rowsum(P o dP)
//
// Shapes   O, dO [batch, num_heads, seqlen_q, head_dim], any strides
//          delta [batch, num_heads, seqlen_q] fp32, contiguous, in the workspace
// Grid     DeltaShape::lanes per row, four rows one after another for each lane, whose loads overlap
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
#include "attention_cuda/ptx/dependent_launch.cuh"

namespace flashlab::cuda {

/// One number per query, [batch, num_heads, seqlen_q], contiguous.
template <class Number>
DeviceTensor<Number> per_query(Number* data, const Sizes& sizes) {
  return {data, static_cast<std::int64_t>(sizes.num_heads) * sizes.seqlen_q, sizes.seqlen_q, 1, 1};
}

/// 16 bytes of a row.
template <class Element>
struct alignas(16) DeltaChunk {
  static constexpr int kElements = 16 / static_cast<int>(sizeof(Element));
  Element elements[kElements];
};

template <class Element>
__device__ __forceinline__ float sum_of_products(const DeltaChunk<Element>& O,
                                                 const DeltaChunk<Element>& dO, float sum) {
#pragma unroll
  for (int e = 0; e < DeltaChunk<Element>::kElements; ++e) {
    sum = fmaf(ptx::to_float(dO.elements[e]), ptx::to_float(O.elements[e]), sum);
  }
  return sum;
}

/// A row of O and of dO.
template <class Element>
struct DeltaRow {
  const Element *O, *dO;
  bool exists;

  /// head: of the batch.
  __device__ DeltaRow(const BackwardArguments<Element>& arguments, int head, int i) {
    const int b = head / arguments.sizes.num_heads, h = head % arguments.sizes.num_heads;
    exists = b < arguments.sizes.batch;
    O = arguments.O.row(b, h, i);
    dO = arguments.dO.row(b, h, i);
  }
};

/// A lane's part of delta of each row. is_aligned: 16 bytes of O and of dO can be loaded at once.
template <class Element, int kRows>
__device__ __forceinline__ void add_parts_of_delta(float (&sums)[kRows],
                                                   const DeltaRow<Element> (&rows)[kRows],
                                                   const BackwardArguments<Element>& arguments,
                                                   int lane, int lanes, bool is_aligned) {
  using Chunk = DeltaChunk<Element>;
  const int head_dim = arguments.sizes.head_dim;
  if (is_aligned) {
#pragma unroll 1
    for (int c = lane * Chunk::kElements; c < head_dim; c += lanes * Chunk::kElements) {
      Chunk O[kRows] = {}, dO[kRows] = {};  // all rows' loads are under way at the same time
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (!rows[r].exists) continue;
        O[r] = *reinterpret_cast<const Chunk*>(rows[r].O + c);
        dO[r] = *reinterpret_cast<const Chunk*>(rows[r].dO + c);
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r] = sum_of_products(O[r], dO[r], sums[r]);
    }
    return;
  }
  for (int r = 0; r < kRows; ++r) {
    if (!rows[r].exists) continue;
    for (int c = lane; c < head_dim; c += lanes) {
      sums[r] = fmaf(ptx::to_float(rows[r].dO[c * arguments.dO.column_stride]),
                     ptx::to_float(rows[r].O[c * arguments.O.column_stride]), sums[r]);
    }
  }
}

template <class Element>
__host__ __device__ bool has_aligned_outputs(const BackwardArguments<Element>& arguments) {
  return arguments.O.has_aligned_rows(arguments.sizes.head_dim) &&
         arguments.dO.has_aligned_rows(arguments.sizes.head_dim);
}

/// rounded_lse null: rounds nothing. counter null: sets nothing to 0.
template <class Element>
__global__ void __launch_bounds__(DeltaShape::kNumThreads)
    delta_kernel(const BackwardArguments<Element> arguments, float* delta, float* rounded_lse,
                 int* counter, int lanes, bool is_aligned) {
  ptx::let_next_kernel_start();  // the gradients
  constexpr int kRows = DeltaShape::kRowsOfThread;
  const Sizes& sizes = arguments.sizes;
  if (counter != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *counter = 0;
  const int lane = static_cast<int>(threadIdx.x) % lanes, step = DeltaShape::kNumThreads / lanes;
  const std::int64_t first_row =
      static_cast<std::int64_t>(blockIdx.x) * kRows * step + static_cast<int>(threadIdx.x) / lanes;
  const auto head = static_cast<int>(first_row / sizes.seqlen_q),
             first = static_cast<int>(first_row % sizes.seqlen_q);
  const auto row_of = [&](int r) {
    const int i = first + r * step;  // of this head, or of one of the next
    return i < sizes.seqlen_q
               ? DeltaRow<Element>(arguments, head, i)
               : DeltaRow<Element>(arguments, head + i / sizes.seqlen_q, i % sizes.seqlen_q);
  };
  static_assert(kRows == 4);
  const DeltaRow<Element> rows[kRows] = {row_of(0), row_of(1), row_of(2), row_of(3)};
  float sums[kRows] = {};
  add_parts_of_delta(sums, rows, arguments, lane, lanes, is_aligned);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], distance);
    }
    if (!rows[r].exists || lane != 0) continue;
    const std::int64_t row = first_row + r * step;
    if (rounded_lse == nullptr) {
      delta[row] = sums[r];
    } else {
      const int i = first + r * step;
      delta[row] = ptx::to_float(ptx::from_float<Element>(sums[r]));
      const std::int64_t of_head = head + i / sizes.seqlen_q;
      rounded_lse[row] = ptx::to_float(ptx::from_float<Element>(
          *arguments.lse.row(static_cast<int>(of_head / sizes.num_heads),
                             static_cast<int>(of_head % sizes.num_heads), i % sizes.seqlen_q)));
    }
  }
}

/// Computes delta and, unless null, rounded_lse: [batch, num_heads, seqlen_q] in device memory. Sets
/// counter to 0, unless it is null or there is no query.
template <class Element>
void launch_delta(const Call& call, const BackwardArguments<Element>& arguments, float* delta,
                  float* rounded_lse = nullptr, int* counter = nullptr) {
  const Sizes& sizes = arguments.sizes;
  const std::int64_t rows =
      static_cast<std::int64_t>(sizes.batch) * sizes.num_heads * sizes.seqlen_q;
  const DeltaShape shape = {sizes.head_dim, static_cast<int>(sizeof(Element))};
  launch(call, "delta_kernel", delta_kernel<Element>,
         {num_tiles(rows, shape.num_rows()), DeltaShape::kNumThreads}, arguments, delta,
         rounded_lse, counter, shape.lanes(), has_aligned_outputs(arguments));
}

/// Returns the same arguments with a contiguous lse [batch, num_heads, seqlen_q].
template <class Element>
BackwardArguments<Element> with_lse(BackwardArguments<Element> arguments, const float* lse) {
  arguments.lse = per_query(lse, arguments.sizes);
  return arguments;
}

}  // namespace flashlab::cuda
