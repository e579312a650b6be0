// fused-softmax forward: the library's two products, and one kernel between them.
//
//   S = Q K^T                                     the library's product
//   P = exp(softmax_scale S - m) / l, row by row  one kernel; m is the maximum, l the sum
//   O = P V                                       the library's product;  lse = m + log l
//
// Shapes     attention/problem.hpp;  S, then P in its place  [batch, num_heads, seqlen_q, seqlen_k]
//            S fp32, P in the tensors' type
// Tiles      sS [seqlen_k] fp32: the row, after it is read; a row above 48 KiB is read three times
// Grid       one block per row; hidden scores are not read
// Traffic    S: 1 store, 1 load; P: 1 store, 1 load
// Workspace  batch num_heads seqlen_q seqlen_k elements, copies of tensors with gaps, 32 MiB
// Against    naive: what a compiler makes of it, which fuses all but the products
// Source     toymachine/programs/fused_softmax.toy (there the scale is a pass of its own)
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention/score.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/stored_scores.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

static_assert((kMostStoredKeys + kReduceFloats) * sizeof(float) <= kSharedBytesWithoutAsking);

/// The scaled scores of a row, in shared memory if they fit.
template <bool kIsStored>
struct ScaledRow {
  const float* row;
  float* sS;  // [seqlen_k] if kIsStored
  float scale;

  /// Reads a score for the first time.
  __device__ float read(int j) const {
    const float s = score_of(scale * row[j]);
    if constexpr (kIsStored) sS[j] = s;
    return s;
  }
  __device__ float again(int j) const {
    if constexpr (kIsStored) return sS[j];
    return score_of(scale * row[j]);
  }
};

/// Each thread processes every kRowThreads-th key, and rereads only the scores that it
/// has read itself.
template <class Element, bool kIsStored>
__global__ void __launch_bounds__(kRowThreads)
    fused_softmax_kernel(ScoreMatrix<float> S, ScoreMatrix<Element> P, MaskArguments mask,
                         Sizes sizes, float softmax_scale, float* row_max, float* row_sum) {
  float* const shared = reinterpret_cast<float*>(ptx::shared_memory());
  const int thread = static_cast<int>(threadIdx.x);
  const Place place = place_of(blockIdx.x, sizes.seqlen_q, sizes);
  const VisibleKeys visible = mask.of_batch_entry(place.b, sizes);
  const int begin_key = visible.first_of_query(place.part), end_key = visible.of_query(place.part);
  Element* const row = P.row(blockIdx.x);
  const ScaledRow<kIsStored> scores = {S.row(blockIdx.x), shared + kReduceFloats, softmax_scale};

  float largest = -INFINITY;
  for (int j = begin_key + thread; j < end_key; j += kRowThreads) {
    largest = fmaxf(largest, scores.read(j));
  }
  largest = block_max<kRowThreads>(largest, shared);
  const float shift = shift_of(largest);

  float sum = 0;
  for (int j = begin_key + thread; j < end_key; j += kRowThreads) {
    sum += expf(scores.again(j) - shift);
  }
  sum = block_sum<kRowThreads>(sum, shared);
  const float divisor = divisor_of(sum);

  for (int j = begin_key + thread; j < end_key; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(expf(scores.again(j) - shift) / divisor);
  }
  for (int j = thread; j < begin_key; j += kRowThreads) row[j] = ptx::from_float<Element>(0.f);
  for (int j = end_key + thread; j < S.num_keys; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(0.f);
  }
  if (thread == 0) {
    row_max[blockIdx.x] = largest;
    row_sum[blockIdx.x] = sum;
  }
}

// ------------------------------------------------------------------------------------- launcher

template <class Element>
void launch_three_steps(const ForwardCall& call) {
  Workspace workspace(call.workspace);
  const StoredScores<Element> scores(call.problem, workspace);
  const auto arguments = forward_arguments<Element>(call);
  const int seqlen_k = arguments.sizes.seqlen_k;
  const bool is_stored = seqlen_k <= kMostStoredKeys;
  const int shared_floats = kReduceFloats + (is_stored ? seqlen_k : 0);

  scores.multiply_queries_by_keys(call);
  launch(call, "fused_softmax",
         is_stored ? fused_softmax_kernel<Element, true> : fused_softmax_kernel<Element, false>,
         {scores.num_rows, kRowThreads, sizeof(float) * static_cast<std::size_t>(shared_floats)},
         scores.S, scores.P, arguments.mask, arguments.sizes, arguments.softmax_scale,
         scores.row_max, scores.row_sum);
  scores.multiply_weights_by_values(call);
}

void launch_fused_softmax(const ForwardCall& call) {
  switch (call.problem.dtype) {
    case DataType::kBFloat16:
      return launch_three_steps<BFloat16>(call);
    case DataType::kFloat16:
      return launch_three_steps<Float16>(call);
    default:
      return launch_three_steps<float>(call);
  }
}

}  // namespace

extern const KernelRow fused_softmax;
const KernelRow fused_softmax = {listed("fused_softmax"), launch_fused_softmax, nullptr,
                                 stored_scores_bytes};

}  // namespace flashlab::cuda
