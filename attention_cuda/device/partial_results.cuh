// The results of attention to parts of the keys, and the kernel that merges them.
//
//   m = max m_s;   l = sum l_s exp(m_s - m);   O = sum O_s exp(m_s - m) / l;   lse = m + log l
//
// Any order and any bracketing gives the same result, except for rounding. A part without visible
// keys has m = -inf, l = 0, O = 0.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention_cuda/detail/split_launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/warp_row.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/dependent_launch.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

inline constexpr int kMergeWarps = MergeShape::kNumWarps, kMergeThreads = MergeShape::kNumThreads;

/// m and l [rows, num_splits], O [rows, num_splits, head_dim].
struct PartialResults {
  float* row_max;
  float* row_sum;
  float* O;
  int num_splits;
};

/// Merges the splits of one row per block. Each warp adds every kMergeWarps-th split. Starts while
/// the splits are computed, which hides the time of a launch, and waits for them.
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kMergeThreads)
    merge_partial_results_kernel(ForwardArguments<Element> arguments, PartialResults partial) {
  const Sizes& sizes = arguments.sizes;
  const std::int64_t row = blockIdx.x, first = row * partial.num_splits;
  const Place place = place_of(row, sizes.seqlen_q, sizes);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / kWarpSize;
  float* const one_per_warp = reinterpret_cast<float*>(ptx::shared_memory());  // [kMergeWarps]
  float* const sO = one_per_warp + kMergeWarps;  // [kMergeWarps, kHeadDim]

  ptx::wait_for_previous_kernels();
  float row_max = -INFINITY;
  for (int split = thread; split < partial.num_splits; split += kMergeThreads) {
    row_max = fmaxf(row_max, partial.row_max[first + split]);
  }
  row_max = block_max<kMergeThreads>(row_max, one_per_warp);
  const float shift = shift_of(row_max);

  float row_sum = 0;  // of the warp, in every lane
  WarpRow<kHeadDim> o;
  const HeadRows<const float> mO = {partial.O + first * sizes.head_dim, sizes.head_dim, 1,
                                    sizes.head_dim};
#pragma unroll 4
  for (int split = warp; split < partial.num_splits; split += kMergeWarps) {
    const float weight = expf(partial.row_max[first + split] - shift);
    row_sum = fmaf(weight, partial.row_sum[first + split], row_sum);
    scale_and_add(o, 1.f, weight, load_row<kHeadDim>(mO, split));
  }
  store_row(o, {sO, kHeadDim, 1, kHeadDim}, warp);
  row_sum = block_sum<kMergeThreads>(thread % kWarpSize == 0 ? row_sum : 0.f, one_per_warp);

  Element* const target = arguments.O.row(place.b, place.h, place.part);
  for (int column = thread; column < sizes.head_dim; column += kMergeThreads) {
    float sum = 0;
    for (int w = 0; w < kMergeWarps; ++w) sum += sO[w * kHeadDim + column];
    target[column * arguments.O.column_stride] = ptx::from_float<Element>(normalised(sum, row_sum));
  }
  if (thread == 0 && arguments.lse.data != nullptr) {
    *arguments.lse.row(place.b, place.h, place.part) = logsumexp(row_max, row_sum);
  }
}

// ------------------------------------------------------------------------------------- launchers

/// Takes the partial results of a call from its workspace.
inline PartialResults partial_results_in(Workspace& workspace, const AttentionProblem& problem,
                                         const SplitTiles& tiles, const ExecutionOptions& options) {
  const int splits = num_splits(problem, tiles, options.num_splits, num_multiprocessors());
  const std::int64_t count = problem.batch * problem.num_heads * problem.seqlen_q * splits;
  float* const row_max = workspace.take<float>(count);
  float* const row_sum = workspace.take<float>(count);
  return {row_max, row_sum, workspace.take<float>(count * problem.head_dim), splits};
}

inline std::size_t partial_results_bytes(const AttentionProblem& problem, const SplitTiles& tiles,
                                         const ExecutionOptions& options) {
  Workspace workspace;
  partial_results_in(workspace, problem, tiles, options);
  return workspace.bytes();
}

template <class Element, int kHeadDim>
void launch_merge(const ForwardCall& call, const PartialResults& partial) {
  const AttentionProblem& problem = call.problem;
  launch(call, "split_kv_merge", merge_partial_results_kernel<Element, kHeadDim>,
         {problem.batch * problem.num_heads * problem.seqlen_q, kMergeThreads,
          MergeShape::shared_bytes(kHeadDim), true},
         forward_arguments<Element>(call), partial);
}

}  // namespace flashlab::cuda
