// three-pass forward: stores no n x n array; reads K three times, V once.
//
//   for each query i, over the keys j that it sees:
//     pass 1   m = max s_j                       s_j = softmax_scale q_i . k_j, recomputed
//     pass 2   l = sum exp(s_j - m)
//     pass 3   O_i = sum exp(s_j - m) / l v_j
//   lse_i = m + log l
//
// Shapes   Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  all fp32, any strides
// Grid     one warp per query, kQueryWarps adjacent queries per block; lanes share a row's columns
// Traffic  Q and O once; K three times and V once for every query, mostly from the caches
// Against  fused-softmax: no matrix S in memory; the cost is computing the first
//          product three times
// Source   toymachine/programs/three_pass.toy; safe softmax, fused with both products
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention/score.hpp"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/device/warp_row.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

template <int kHeadDim>
__global__ void __launch_bounds__(kQueryWarps* kWarpSize)
    three_pass_kernel(ForwardArguments<float> arguments, std::int64_t num_queries) {
  const Sizes& sizes = arguments.sizes;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpSize;
  const std::int64_t query = std::int64_t{blockIdx.x} * kQueryWarps + thread / kWarpSize;
  if (query >= num_queries) return;
  const Place place = place_of(query, sizes.seqlen_q, sizes);
  const VisibleKeys visible = arguments.mask.of_batch_entry(place.b, sizes);
  const int begin_key = visible.first_of_query(place.part), end_key = visible.of_query(place.part);
  const auto mK = head_rows(arguments.K, place.b, place.kv_head, sizes.head_dim);
  const auto mV = head_rows(arguments.V, place.b, place.kv_head, sizes.head_dim);
  const WarpRow<kHeadDim> q =
      load_row<kHeadDim>(head_rows(arguments.Q, place.b, place.h, sizes.head_dim), place.part);
  // Each pass rounds a score alike: not once with the subtraction in one, and before it in another.
  const auto score = [&, scale = arguments.softmax_scale](int j) {
    return score_of(__fmul_rn(scale, dot(q, load_row<kHeadDim>(mK, j))));
  };

  // Pass 1: the maximum score.
  float row_max = -INFINITY;
  for (int j = begin_key; j < end_key; ++j) {
    row_max = fmaxf(row_max, score(j));
  }
  const float shift = shift_of(row_max);

  // Pass 2: the sum of the weights.
  float row_sum = 0;
  for (int j = begin_key; j < end_key; ++j) {
    row_sum += expf(score(j) - shift);
  }
  const float divisor = divisor_of(row_sum);

  // Pass 3: the output.
  WarpRow<kHeadDim> o;
  for (int j = begin_key; j < end_key; ++j) {
    const float p = expf(score(j) - shift) / divisor;
    scale_and_add(o, 1.f, p, load_row<kHeadDim>(mV, j));
  }
  if (row_sum == 0) o = {};  // only scores of -inf: ignore even a NaN in V
  store_row(o, head_rows(arguments.O, place.b, place.h, sizes.head_dim), place.part);
  if (lane == 0 && arguments.lse.data != nullptr) {
    *arguments.lse.row(place.b, place.h, place.part) = logsumexp(row_max, row_sum);
  }
}

// ------------------------------------------------------------------------------------- launcher

void launch_three_pass(const ForwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const std::int64_t num_queries = problem.batch * problem.num_heads * problem.seqlen_q;
  const LaunchShape shape = {ceil_div(num_queries, kQueryWarps), kQueryWarps * kWarpSize};
  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    launch(call, "three_pass", three_pass_kernel<kHeadDim>, shape, forward_arguments<float>(call),
           num_queries);
  });
}

}  // namespace

extern const KernelRow three_pass;
const KernelRow three_pass = {listed("three_pass"), launch_three_pass};

}  // namespace flashlab::cuda
