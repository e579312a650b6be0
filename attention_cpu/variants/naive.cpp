// naive forward: step by step; every step is a pass over memory.
//
//   S = Q K^T
//   S = softmax_scale S
//   S_ij = -inf                if query i does not see key j
//   m = rowmax S
//   P = S - m
//   P = exp P
//   l = rowsum P
//   P = P / l
//   O = P V,  lse = m + log l
//
// Shapes     attention/problem.hpp;  S, then P in its place  [batch, num_heads, seqlen_q, seqlen_k]
//                                    m, l                    [batch, num_heads, seqlen_q]
// Tiles      a pass processes kBlockQ rows at a time; its products use kBlockKV keys at a time
// Parallel   over batch, heads and blocks of queries, in each pass
// Traffic    S: 2 stores, 3 loads, and the hidden part is stored once more; P: 3 stores, 4 loads;
//            K and V once per query block
// Workspace  batch num_heads seqlen_q (seqlen_k + 2) elements
// Against    none: this is what a framework does that runs one kernel per operation
// Source     FA2 backward post, "eager"; toymachine/programs/naive.toy (there P has its own memory)
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/stored.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
using Stored = StoredScores<Element>;

template <class Element>
void take_product(const ForwardCall<Element>& call, const Stored<Element>& stored,
                  const QueryTile& tile) {
  store_product(call, tile, Element{1}, call.Q, call.K, stored.S_then_P);
}

template <class Element>
void scale(const ForwardCall<Element>& call, const Stored<Element>& stored, const QueryTile& tile) {
  auto S = stored_rows(stored.S_then_P, call, tile);
  S *= static_cast<Element>(call.softmax_scale);
  make_scores(S);
}

template <class Element>
void hide(const ForwardCall<Element>& call, const Stored<Element>& stored, const QueryTile& tile) {
  auto S = stored_rows(stored.S_then_P, call, tile);
  for (std::int64_t r = 0; r < S.rows(); ++r) {
    set_outside(S.row(r), call.visible_keys(tile.b, tile.queries.first + r), -kInfinity<Element>);
  }
}

template <class Element>
void take_row_max(const ForwardCall<Element>& call, const Stored<Element>& stored,
                  const QueryTile& tile) {
  const auto S = stored_rows(stored.S_then_P, call, tile);
  auto row_max = stored_column(stored.row_max, call, tile);
  for (std::int64_t r = 0; r < S.rows(); ++r) row_max[r] = largest(S.row(r));
}

template <class Element>
void subtract(const ForwardCall<Element>& call, const Stored<Element>& stored,
              const QueryTile& tile) {
  auto P = stored_rows(stored.S_then_P, call, tile);
  const auto row_max = stored_column(stored.row_max, call, tile);
  for (std::int64_t r = 0; r < P.rows(); ++r) P.row(r) -= shift_of(row_max[r]);
}

template <class Element>
void take_exp(const ForwardCall<Element>& call, const Stored<Element>& stored,
              const QueryTile& tile) {
  auto P = stored_rows(stored.S_then_P, call, tile);
  for (std::int64_t r = 0; r < P.rows(); ++r) exponentiate(P.row(r));
}

template <class Element>
void take_row_sum(const ForwardCall<Element>& call, const Stored<Element>& stored,
                  const QueryTile& tile) {
  const auto P = stored_rows(stored.S_then_P, call, tile);
  auto row_sum = stored_column(stored.row_sum, call, tile);
  for (std::int64_t r = 0; r < P.rows(); ++r) row_sum[r] = P.row(r).sum();
}

template <class Element>
void divide(const ForwardCall<Element>& call, const Stored<Element>& stored,
            const QueryTile& tile) {
  auto P = stored_rows(stored.S_then_P, call, tile);
  const auto row_sum = stored_column(stored.row_sum, call, tile);
  for (std::int64_t r = 0; r < P.rows(); ++r) P.row(r) /= divisor_of(row_sum[r]);
}

template <class Element>
void output(const ForwardCall<Element>& call, const Stored<Element>& stored,
            const QueryTile& tile) {
  auto O = rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim);
  set_weighted_sum(call, tile, stored.S_then_P, call.V, O);
  write_statistics(call, tile, stored_column(stored.row_max, call, tile),
                   stored_column(stored.row_sum, call, tile), O);
}

}  // namespace

template <class Element>
void naive(const ForwardCall<Element>& call) {
  const Stored<Element> stored(call);
  using Pass = void (*)(const ForwardCall<Element>&, const Stored<Element>&, const QueryTile&);
  constexpr Pass kPasses[] = {take_product, scale,        hide,   take_row_max, subtract,
                              take_exp,     take_row_sum, divide, output};
  constexpr int kNumPasses = sizeof(kPasses) / sizeof(kPasses[0]);
  for (int pass = 0; pass < kNumPasses; ++pass) {
    for_each_query_tile<Element>(call, pass, kNumPasses,
                                 [&](const QueryTile& tile) { kPasses[pass](call, stored, tile); });
  }
}

template void naive(const ForwardCall<float>&);
template void naive(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
