// naive forward: step by step; every step is a kernel that reads and writes global memory.
//
//   S = Q K^T                 the library's product
//   S = softmax_scale S
//   S_ij = -inf               if query i does not see key j
//   m = rowmax S
//   P = S - m
//   P = exp P
//   l = rowsum P
//   P = P / l                 16-bit elements: into an array of that type
//   O = P V                   the library's product;  lse = m + log l
//
// Shapes     attention/problem.hpp;  S, then P in its place  [batch, num_heads, seqlen_q, seqlen_k]
//                                    m, l                    [batch, num_heads, seqlen_q]  fp32
//            all fp32, except the last P, which has the tensors' type
// Grid       one block per row
// Traffic    S: 2 stores, 3 loads, and the hidden part is stored once more; P: 3 stores, 4 loads
// Workspace  batch num_heads seqlen_q seqlen_k elements, copies of tensors with gaps, 32 MiB
// Against    none: this is what a framework does that runs one kernel per operation
// Source     FA2 backward post, "eager"; toymachine/programs/naive.toy (there P has its own memory)
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

constexpr std::size_t kReduceBytes = kReduceFloats * sizeof(float);

__device__ __forceinline__ int first_key() { return static_cast<int>(threadIdx.x); }

__global__ void __launch_bounds__(kRowThreads)
    naive_scale_kernel(ScoreMatrix<float> S, float softmax_scale) {
  float* const row = S.row(blockIdx.x);
  for (int j = first_key(); j < S.num_keys; j += kRowThreads) {
    row[j] = score_of(softmax_scale * row[j]);
  }
}

__global__ void __launch_bounds__(kRowThreads)
    naive_mask_kernel(ScoreMatrix<float> S, MaskArguments mask, Sizes sizes) {
  const Place place = place_of(blockIdx.x, sizes.seqlen_q, sizes);
  const VisibleKeys visible = mask.of_batch_entry(place.b, sizes);
  const int begin_key = visible.first_of_query(place.part), end_key = visible.of_query(place.part);
  float* const row = S.row(blockIdx.x);
  for (int j = first_key(); j < begin_key; j += kRowThreads) row[j] = -INFINITY;
  for (int j = end_key + first_key(); j < S.num_keys; j += kRowThreads) row[j] = -INFINITY;
}

__global__ void __launch_bounds__(kRowThreads)
    naive_row_max_kernel(ScoreMatrix<float> S, float* row_max) {
  const float* const row = S.row(blockIdx.x);
  float largest = -INFINITY;
  for (int j = first_key(); j < S.num_keys; j += kRowThreads) {
    largest = fmaxf(largest, row[j]);
  }
  largest = block_max<kRowThreads>(largest, reinterpret_cast<float*>(ptx::shared_memory()));
  if (threadIdx.x == 0) row_max[blockIdx.x] = largest;
}

__global__ void __launch_bounds__(kRowThreads)
    naive_subtract_kernel(ScoreMatrix<float> S, const float* row_max) {
  float* const row = S.row(blockIdx.x);
  const float shift = shift_of(row_max[blockIdx.x]);
  for (int j = first_key(); j < S.num_keys; j += kRowThreads) {
    row[j] = row[j] - shift;
  }
}

__global__ void __launch_bounds__(kRowThreads) naive_exp_kernel(ScoreMatrix<float> P) {
  float* const row = P.row(blockIdx.x);
  for (int j = first_key(); j < P.num_keys; j += kRowThreads) {
    row[j] = expf(row[j]);
  }
}

__global__ void __launch_bounds__(kRowThreads)
    naive_row_sum_kernel(ScoreMatrix<float> P, float* row_sum) {
  const float* const row = P.row(blockIdx.x);
  float sum = 0;
  for (int j = first_key(); j < P.num_keys; j += kRowThreads) sum += row[j];
  sum = block_sum<kRowThreads>(sum, reinterpret_cast<float*>(ptx::shared_memory()));
  if (threadIdx.x == 0) row_sum[blockIdx.x] = sum;
}

/// Loads several elements before the first division: a division may branch, and the compiler does
/// not move loads ahead of it.
template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_divide_kernel(ScoreMatrix<float> exponentials, const float* row_sum,
                        ScoreMatrix<Element> P) {
  constexpr int kAtOnce = 4;
  const float* const from = exponentials.row(blockIdx.x);
  Element* const row = P.row(blockIdx.x);
  const float divisor = divisor_of(row_sum[blockIdx.x]);
  for (int first = first_key(); first < P.num_keys; first += kAtOnce * kRowThreads) {
    float p[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int j = first + k * kRowThreads;
      p[k] = j < P.num_keys ? from[j] : 0.f;
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int j = first + k * kRowThreads;
      if (j < P.num_keys) row[j] = ptx::from_float<Element>(p[k] / divisor);
    }
  }
}

// ------------------------------------------------------------------------------------- launcher

template <class Element>
void launch_steps(const ForwardCall& call) {
  Workspace workspace(call.workspace);
  const StoredScores<Element> scores(call.problem, workspace);
  const auto arguments = forward_arguments<Element>(call);
  const LaunchShape shape = {scores.num_rows, kRowThreads};
  const LaunchShape reducing = {scores.num_rows, kRowThreads, kReduceBytes};

  scores.multiply_queries_by_keys(call);
  launch(call, "naive_scale", naive_scale_kernel, shape, scores.S, arguments.softmax_scale);
  if (call.problem.is_masked() || call.key_lengths != nullptr ||
      call.ranges.of_queries != nullptr) {
    launch(call, "naive_mask", naive_mask_kernel, shape, scores.S, arguments.mask, arguments.sizes);
  }
  launch(call, "naive_row_max", naive_row_max_kernel, reducing, scores.S, scores.row_max);
  launch(call, "naive_subtract", naive_subtract_kernel, shape, scores.S, scores.row_max);
  launch(call, "naive_exp", naive_exp_kernel, shape, scores.S);
  launch(call, "naive_row_sum", naive_row_sum_kernel, reducing, scores.S, scores.row_sum);
  launch(call, "naive_divide", naive_divide_kernel<Element>, shape, scores.S, scores.row_sum,
         scores.P);
  scores.multiply_weights_by_values(call);
}

void launch_naive(const ForwardCall& call) {
  switch (call.problem.dtype) {
    case DataType::kBFloat16:
      return launch_steps<BFloat16>(call);
    case DataType::kFloat16:
      return launch_steps<Float16>(call);
    default:
      return launch_steps<float>(call);
  }
}

}  // namespace

extern const KernelRow naive;
const KernelRow naive = {listed("naive"), launch_naive, nullptr, stored_scores_bytes};

}  // namespace flashlab::cuda
