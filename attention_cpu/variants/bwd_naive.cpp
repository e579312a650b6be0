// bwd-naive: computes the gradients step by step; every step is a pass over memory.
//
//   P = exp(S - lse),  S = softmax_scale Q K^T
//   dV = P^T dO
//   dP = dO V^T
//   D = rowsum(dO o O)
//   dS = P o (dP - D)
//   dQ = softmax_scale dS K
//   dK = softmax_scale dS^T Q
//
// Shapes     attention/problem.hpp;  P, dP, dS  [batch, num_heads, seqlen_q, seqlen_k]
//                                    D          [batch, num_heads, seqlen_q]
// Tiles      a pass processes kBlockQ queries (dV, dK: kBlockKV keys) at a time; its products use
//            kBlockKV keys (kBlockQ queries) of them at a time
// Parallel   over batch, heads and blocks of queries; for dV and dK over batch, kv heads and blocks
//            of keys, where one thread sums over the group's heads and their queries
// Traffic    P: 1 store, 2 loads; dP: 1 store, 1 load; dS: 1 store, 2 loads
// Work       five products of 2 batch num_heads seqlen_q seqlen_k head_dim FLOPs: "10 BHT^2D", P
//            recomputed once; hidden pairs are also computed
// Workspace  batch num_heads seqlen_q (3 seqlen_k + 1) elements
// Against    none: the gradients as derived, one operation per pass
// Source     toy-model notes; two-option algorithm; toymachine/programs/bwd_naive.toy
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/stored.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
struct StoredBackward {
  Element *P, *dP, *dS, *delta;
};

template <class Element>
void recompute_P(const BackwardCall<Element>& call, const StoredBackward<Element>& stored,
                 const QueryTile& tile) {
  store_product(call, tile, static_cast<Element>(call.softmax_scale), call.Q, call.K, stored.P);
  auto P = stored_rows(stored.P, call, tile);
  for (std::int64_t r = 0; r < P.rows(); ++r) {
    const std::int64_t i = tile.queries.first + r;
    weigh(P.row(r), weighed_keys(call, tile.b, tile.h, i), call.lse.at(tile.b, tile.h, i));
  }
}

template <class Element>
void take_delta(const BackwardCall<Element>& call, const StoredBackward<Element>& stored,
                const QueryTile& tile) {
  const auto O = rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim);
  const auto dO = rows_of(call.dO, tile.b, tile.h, tile.queries, call.head_dim);
  auto delta = stored_column(stored.delta, call, tile);
  for (std::int64_t r = 0; r < O.rows(); ++r) delta[r] = (dO.row(r) * O.row(r)).sum();
}

template <class Element>
void take_dS(const BackwardCall<Element>& call, const StoredBackward<Element>& stored,
             const QueryTile& tile) {
  const auto P = stored_rows(stored.P, call, tile), dP = stored_rows(stored.dP, call, tile);
  const auto delta = stored_column(stored.delta, call, tile);
  auto dS = stored_rows(stored.dS, call, tile);
  for (std::int64_t r = 0; r < dS.rows(); ++r) {
    const KeyRange weighed = weighed_keys(call, tile.b, tile.h, tile.queries.first + r);
    segment_of(dS.row(r), weighed) =
        segment_of(P.row(r), weighed) * (segment_of(dP.row(r), weighed) - delta[r]);
    set_outside(dS.row(r), weighed, 0);
  }
}

/// sum = array^T B for a block of keys, over the queries of all heads of the group: dV from P and
/// dO, dK from dS and Q.
template <class Element>
void set_transposed_sum(const BackwardCall<Element>& call, std::int64_t b, std::int64_t kv_head,
                        const Range& keys, Element* array, const Heads<const Element>& B,
                        Tile<Element> sum) {
  const std::int64_t group = call.num_heads / call.num_kv_heads;
  sum.setZero();
  for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    for_each_block<kBlockQ<Element>>(call.seqlen_q, [&](const Range& queries) {
      const QueryTile tile = {b, h, queries};
      const auto weights = columns(stored_rows(array, call, tile), keys);
      const auto B_rows = rows_of(B, b, h, queries, call.head_dim);
      add_transposed_product(weights, B_rows, WeighedKeys<Element>(call, tile, keys).of_row, sum);
    });
  }
}

}  // namespace

template <class Element>
void bwd_naive(const BackwardCall<Element>& call) {
  constexpr int kNumPasses = 7;
  Workspace& workspace = *call.workspace;
  const StoredBackward<Element> stored = {allocate_rows<Element>(call, workspace, call.seqlen_k),
                                          allocate_rows<Element>(call, workspace, call.seqlen_k),
                                          allocate_rows<Element>(call, workspace, call.seqlen_k),
                                          allocate_rows<Element>(call, workspace, 1)};
  const Element scale = static_cast<Element>(call.softmax_scale);

  for_each_query_tile<Element>(call, 0, kNumPasses,
                               [&](const QueryTile& tile) { recompute_P(call, stored, tile); });
  for_each_key_block(call, 1, kNumPasses, [&](std::int64_t b, std::int64_t h, const Range& keys) {
    auto dV = rows_of(call.dV, b, h, keys, call.head_dim);
    set_transposed_sum(call, b, h, keys, stored.P, call.dO, dV);
  });
  for_each_query_tile<Element>(call, 2, kNumPasses, [&](const QueryTile& tile) {
    store_product(call, tile, Element{1}, call.dO, call.V, stored.dP);
  });
  for_each_query_tile<Element>(call, 3, kNumPasses,
                               [&](const QueryTile& tile) { take_delta(call, stored, tile); });
  for_each_query_tile<Element>(call, 4, kNumPasses,
                               [&](const QueryTile& tile) { take_dS(call, stored, tile); });
  for_each_query_tile<Element>(call, 5, kNumPasses, [&](const QueryTile& tile) {
    auto dQ = rows_of(call.dQ, tile.b, tile.h, tile.queries, call.head_dim);
    set_weighted_sum(call, tile, stored.dS, call.K, dQ);
    dQ *= scale;
  });
  for_each_key_block(call, 6, kNumPasses, [&](std::int64_t b, std::int64_t h, const Range& keys) {
    auto dK = rows_of(call.dK, b, h, keys, call.head_dim);
    set_transposed_sum(call, b, h, keys, stored.dS, call.Q, dK);
    dK *= scale;
  });
}

template void bwd_naive(const BackwardCall<float>&);
template void bwd_naive(const BackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
