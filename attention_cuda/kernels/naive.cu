// naive forward: step by step, every step a kernel that reads and writes global memory.
//
//   S = Q K^T                 the library's product
//   S = softmax_scale S       (16-bit elements: in the product)
//   S_ij = -inf               where query i does not see key j
//   m = rowmax S
//   P = S - m
//   P = exp P
//   l = rowsum P
//   P = P / l
//   O = P V                   the library's product;  lse = m + log l
//
// Shapes     attention/problem.hpp;  S, then P in its place  [batch, num_heads, seqlen_q, seqlen_k]
//                                    m, l                    [batch, num_heads, seqlen_q]  fp32
//            S and P are stored in the tensors' type
// Grid       a block a row
// Traffic    S: 2 stores, 3 loads, and the hidden part is stored once more; P: 3 stores, 4 loads
// Workspace  batch num_heads seqlen_q seqlen_k elements, copies of tensors with gaps, 32 MiB
// Against    nothing: what a framework does that runs one kernel an operation
// Source     S0, "eager"; toymachine/programs/naive.toy (there P has memory of its own)
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/stored_scores.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::size_t kReduceBytes = kRowThreads / kWarpSize * sizeof(float);

__device__ __forceinline__ int first_key() { return static_cast<int>(threadIdx.x); }

template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_scale_kernel(ScoreMatrix<Element> S, float softmax_scale) {
  Element* const row = S.row(blockIdx.x);
  for (int j = first_key(); j < S.num_keys; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(softmax_scale * ptx::to_float(row[j]));
  }
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_mask_kernel(ScoreMatrix<Element> S, MaskArguments mask, Sizes sizes) {
  const Place place = place_of(blockIdx.x, sizes.seqlen_q, sizes);
  const int num_visible = mask.of_batch_entry(place.b, sizes).of_query(place.part);
  Element* const row = S.row(blockIdx.x);
  for (int j = num_visible + first_key(); j < S.num_keys; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(-INFINITY);
  }
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_row_max_kernel(ScoreMatrix<Element> S, float* row_max) {
  const Element* const row = S.row(blockIdx.x);
  float largest = -INFINITY;
  for (int j = first_key(); j < S.num_keys; j += kRowThreads) {
    largest = fmaxf(largest, ptx::to_float(row[j]));
  }
  largest = block_max<kRowThreads>(largest, reinterpret_cast<float*>(ptx::shared_memory()));
  if (threadIdx.x == 0) row_max[blockIdx.x] = largest;
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_subtract_kernel(ScoreMatrix<Element> S, const float* row_max) {
  Element* const row = S.row(blockIdx.x);
  const float shift = shift_of(row_max[blockIdx.x]);
  for (int j = first_key(); j < S.num_keys; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(ptx::to_float(row[j]) - shift);
  }
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads) naive_exp_kernel(ScoreMatrix<Element> P) {
  Element* const row = P.row(blockIdx.x);
  for (int j = first_key(); j < P.num_keys; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(expf(ptx::to_float(row[j])));
  }
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_row_sum_kernel(ScoreMatrix<Element> P, float* row_sum) {
  const Element* const row = P.row(blockIdx.x);
  float sum = 0;
  for (int j = first_key(); j < P.num_keys; j += kRowThreads) sum += ptx::to_float(row[j]);
  sum = block_sum<kRowThreads>(sum, reinterpret_cast<float*>(ptx::shared_memory()));
  if (threadIdx.x == 0) row_sum[blockIdx.x] = sum;
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    naive_divide_kernel(ScoreMatrix<Element> P, const float* row_sum) {
  Element* const row = P.row(blockIdx.x);
  const float divisor = divisor_of(row_sum[blockIdx.x]);
  for (int j = first_key(); j < P.num_keys; j += kRowThreads) {
    row[j] = ptx::from_float<Element>(ptx::to_float(row[j]) / divisor);
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
  if (!scores.kScaleIsInProduct) {
    launch(call, "naive_scale", naive_scale_kernel<Element>, shape, scores.matrix,
           arguments.softmax_scale);
  }
  if (call.problem.mask != Mask::kNone || call.key_lengths != nullptr) {
    launch(call, "naive_mask", naive_mask_kernel<Element>, shape, scores.matrix, arguments.mask,
           arguments.sizes);
  }
  launch(call, "naive_row_max", naive_row_max_kernel<Element>, reducing, scores.matrix,
         scores.row_max);
  launch(call, "naive_subtract", naive_subtract_kernel<Element>, shape, scores.matrix,
         scores.row_max);
  launch(call, "naive_exp", naive_exp_kernel<Element>, shape, scores.matrix);
  launch(call, "naive_row_sum", naive_row_sum_kernel<Element>, reducing, scores.matrix,
         scores.row_sum);
  launch(call, "naive_divide", naive_divide_kernel<Element>, shape, scores.matrix, scores.row_sum);
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

constexpr Arithmetic kArithmetic[] = {{DataType::kFloat32, Products::kNative},
                                      {DataType::kFloat32, Products::kTensorFloat32},
                                      {DataType::kBFloat16, Products::kNative},
                                      {DataType::kFloat16, Products::kNative}};

}  // namespace

extern const KernelRow naive;
const KernelRow naive = {.stem = "naive",
                         .variant = "naive",
                         .arithmetic = kArithmetic,
                         .min_compute_capability = 80,
                         .source = "S0, eager",
                         .forward = launch_naive,
                         .workspace_bytes = stored_scores_bytes};

}  // namespace flashlab::cuda
