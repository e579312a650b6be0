// online forward: one query at a time, one pass over K and V, running maximum and sum.
//
//   m = -inf, l = 0, o = 0
//   for each key j that query i sees:
//     s = softmax_scale q_i . k_j;   m' = max(m, s)
//     l = l exp(m - m') + exp(s - m');   o = o exp(m - m') + exp(s - m') v_j;   m = m'
//   O_i = o / l,   lse_i = m + log l
//
// Shapes   Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  all fp32, any strides
// Grid     one warp per query, kQueryWarps adjacent queries per block; lanes share a row's columns
// Traffic  Q and O once; K and V once for every query, mostly from the caches
// Against  three-pass: one pass instead of three
// Source   Milakov and Gimelshein 2018, algorithm 3, with the toy-model notes' vector numerator
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
    online_kernel(ForwardArguments<float> arguments, std::int64_t num_queries) {
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

  float row_max = -INFINITY, row_sum = 0;
  WarpRow<kHeadDim> o;  // [head_dim]
  for (int j = begin_key; j < end_key; ++j) {
    const float s = score_of(arguments.softmax_scale * dot(q, load_row<kHeadDim>(mK, j)));
    const float new_max = fmaxf(row_max, s), shift = shift_of(new_max);
    const float rescale = expf(row_max - shift), p = expf(s - shift);
    row_sum = row_sum * rescale + p;
    scale_and_add(o, rescale, p, load_row<kHeadDim>(mV, j));
    row_max = new_max;
  }

  store_row(normalised(o, row_sum), head_rows(arguments.O, place.b, place.h, sizes.head_dim),
            place.part);
  if (lane == 0 && arguments.lse.data != nullptr) {
    *arguments.lse.row(place.b, place.h, place.part) = logsumexp(row_max, row_sum);
  }
}

// ------------------------------------------------------------------------------------- launcher

void launch_online(const ForwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const std::int64_t num_queries = problem.batch * problem.num_heads * problem.seqlen_q;
  const LaunchShape shape = {ceil_div(num_queries, kQueryWarps), kQueryWarps * kWarpSize};
  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    launch(call, "online", online_kernel<kHeadDim>, shape, forward_arguments<float>(call),
           num_queries);
  });
}

}  // namespace

extern const KernelRow online;
const KernelRow online = {listed("online"), launch_online};

}  // namespace flashlab::cuda
