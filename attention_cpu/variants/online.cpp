// online forward: one query at a time, one pass over K and V, running max and sum.
//
//   m = -inf, l = 0, o = 0
//   for each key j that query i sees:
//     s = softmax_scale q_i . k_j;   m' = max(m, s)
//     l = l exp(m - m') + exp(s - m');   o = o exp(m - m') + exp(s - m') v_j;   m = m'
//   O_i = o / l,   lse_i = m + log l
//
// Shapes   attention/problem.hpp
// Parallel over batch, heads and queries
// Traffic  K and V are read once per query; the state is head_dim + 2 numbers, stored in O's row
// Against  three-pass: one pass instead of three
// Source   Milakov and Gimelshein 2018, algorithm 3, with the toy-model notes' vector numerator
#include "attention_cpu/detail/build.hpp"
//
#include <Eigen/Core>
#include <cmath>

#include "attention_cpu/detail/call.hpp"
#include "attention_cpu/detail/matrix.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
using MappedVector = Eigen::Map<Eigen::Array<Element, Eigen::Dynamic, 1>>;
template <class Element>
using ConstMappedVector = Eigen::Map<const Eigen::Array<Element, Eigen::Dynamic, 1>>;

template <class Element>
void attend_to_one_query(const ForwardCall<Element>& call, std::int64_t b, std::int64_t h,
                         std::int64_t i) {
  const std::int64_t kv_head = call.kv_head(h);
  const KeyRange visible = call.visible_keys(b, i);
  const ConstMappedVector<Element> q(call.Q.head(b, h) + i * call.Q.row_stride, call.head_dim);
  MappedVector<Element> o(call.O.head(b, h) + i * call.O.row_stride, call.head_dim);
  const Element scale = static_cast<Element>(call.softmax_scale);

  Element row_max = -kInfinity<Element>, row_sum = 0;
  o.setZero();
  for (std::int64_t j = visible.first; j < visible.end; ++j) {
    const ConstMappedVector<Element> k(call.K.head(b, kv_head) + j * call.K.row_stride,
                                       call.head_dim);
    const ConstMappedVector<Element> v(call.V.head(b, kv_head) + j * call.V.row_stride,
                                       call.head_dim);
    const Element s = score_of(scale * (q * k).sum());
    const Element new_max = s > row_max ? s : row_max, shift = shift_of(new_max);
    const Element rescale = std::exp(row_max - shift), weight = std::exp(s - shift);
    row_sum = row_sum * rescale + weight;
    o = o * rescale + weight * v;
    row_max = new_max;
  }
  o /= divisor_of(row_sum);
  if (row_sum == 0) o.setZero();
  call.lse.at(b, h, i) = logsumexp(row_max, row_sum);
}

}  // namespace

template <class Element>
void online(const ForwardCall<Element>& call) {
  call.progress->begin(call.batch * call.num_heads * call.seqlen_q);
#pragma omp parallel for collapse(3) num_threads(call.num_threads) schedule(dynamic, 16)
  for (std::int64_t b = 0; b < call.batch; ++b) {
    for (std::int64_t h = 0; h < call.num_heads; ++h) {
      for (std::int64_t i = 0; i < call.seqlen_q; ++i) {
        if (call.progress->cancelled()) continue;
        attend_to_one_query(call, b, h, i);
        call.progress->finished();
      }
    }
  }
}

template void online(const ForwardCall<float>&);
template void online(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
