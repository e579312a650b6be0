// fused-softmax forward: product, scale, the whole softmax in one pass, product.
//
//   S = Q K^T
//   S = softmax_scale S
//   for each query i:   m = max S_i over the visible keys
//                       P_i = exp(S_i - m), 0 for hidden keys
//                       l = sum P_i;  P_i = P_i / l;  lse_i = m + log l
//   O = P V
//
// Shapes     attention/problem.hpp;  S, then P in its place  [batch, num_heads, seqlen_q, seqlen_k]
// Tiles      a pass processes kBlockQ rows at a time; its products use kBlockKV keys at a time
// Parallel   over batch, heads and blocks of queries, in each pass
// Traffic    S: 2 stores, 2 loads; P: 1 store, 1 load; K and V once per query block
// Workspace  batch num_heads seqlen_q (seqlen_k + 2) elements
// Against    naive: 3 stores and 3 loads of seqlen_q seqlen_k numbers per head instead of 5 and 7
// Source     FA2 backward post, what a compiler makes of naive;
//            toymachine/programs/fused_softmax.toy
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/stored.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

constexpr int kNumPasses = 4;

template <class Element>
void scale_scores(const ForwardCall<Element>& call, const StoredScores<Element>& stored,
                  const QueryTile& tile) {
  Tile<Element> S = stored_rows(stored.S_then_P, call, tile);
  S *= static_cast<Element>(call.softmax_scale);
  make_scores(S);
}

template <class Element>
void softmax(const ForwardCall<Element>& call, const StoredScores<Element>& stored,
             const QueryTile& tile) {
  auto S = stored_rows(stored.S_then_P, call, tile);
  auto row_max = stored_column(stored.row_max, call, tile);
  auto row_sum = stored_column(stored.row_sum, call, tile);
  for (std::int64_t r = 0; r < S.rows(); ++r) {
    const KeyRange visible = call.visible_keys(tile.b, tile.queries.first + r);
    auto P = S.row(r);
    row_max[r] = largest(segment_of(P, visible));
    weigh(P, visible, shift_of(row_max[r]));
    row_sum[r] = P.sum();
    P /= divisor_of(row_sum[r]);
  }
}

}  // namespace

template <class Element>
void fused_softmax(const ForwardCall<Element>& call) {
  const StoredScores<Element> stored(call);
  for_each_query_tile<Element>(call, 0, kNumPasses, [&](const QueryTile& tile) {
    store_product(call, tile, Element{1}, call.Q, call.K, stored.S_then_P);
  });
  for_each_query_tile<Element>(call, 1, kNumPasses,
                               [&](const QueryTile& tile) { scale_scores(call, stored, tile); });
  for_each_query_tile<Element>(call, 2, kNumPasses,
                               [&](const QueryTile& tile) { softmax(call, stored, tile); });
  for_each_query_tile<Element>(call, 3, kNumPasses, [&](const QueryTile& tile) {
    auto O = rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim);
    set_weighted_sum(call, tile, stored.S_then_P, call.V, O);
    write_statistics(call, tile, stored_column(stored.row_max, call, tile),
                     stored_column(stored.row_sum, call, tile), O);
  });
}

template void fused_softmax(const ForwardCall<float>&);
template void fused_softmax(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
