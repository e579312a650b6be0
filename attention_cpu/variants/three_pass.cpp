// three-pass forward: stores no seqlen_q x seqlen_k array and reads K three times.
//
//   for each query tile i:
//     m = -inf;  for each K tile j:      S = softmax_scale Q_i K_j^T;  m = max(m, rowmax S)
//     l = 0;     for each K tile j:      S again;  l = l + rowsum exp(S - m)
//     O_i = 0;   for each K/V tile j:    S again;  P = exp(S - m) / l;  O_i = O_i + P V_j
//     lse_i = m + log l
//
// Shapes     attention/problem.hpp
// Tiles      kBlockQ queries, kBlockKV keys; S, then P in its place, one tile per thread
// Parallel   over batch, heads and query tiles
// Traffic    Q once, K three times per query tile, V once per query tile; writes O and lse once
// Work       twice the forward FLOPs: S three times, P V once; tiles that no query sees are skipped
// Workspace  num_threads kBlockQ (kBlockKV + 2) elements
// Against    fused-softmax: S and P are not stored
// Source     toy-model notes, safe softmax; toymachine/programs/three_pass.toy
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/tiles.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
void three_passes(const ForwardCall<Element>& call, const QueryTile& tile,
                  const ThreadMemory<Element>& memory) {
  const Element scale = static_cast<Element>(call.softmax_scale);
  const auto Q = rows_of(call.Q, tile.b, tile.h, tile.queries, call.head_dim);
  auto O = rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim);
  auto row_max = memory.row_max(tile), row_sum = memory.row_sum(tile);

  const auto for_each_S = [&](const auto& body) {
    for_each_block<kBlockKV<Element>>(visible_to_tile(call, tile), [&](const Range& keys) {
      const auto K = rows_of(call.K, tile.b, call.kv_head(tile.h), keys, call.head_dim);
      Tile<Element> S = memory.S(tile, keys);
      set_product(scale, Q, K, S);
      make_scores(S);
      body(keys, WeighedKeys<Element>(call, tile, keys), S);
    });
  };

  row_max = -kInfinity<Element>;
  for_each_S([&](const Range&, const WeighedKeys<Element>& visible, Tile<Element>& S) {
    for (std::int64_t r = 0; r < S.rows(); ++r) {
      const Element tile_max = largest(segment_of(S.row(r), visible.of_row[r]));
      if (tile_max > row_max[r]) row_max[r] = tile_max;
    }
  });

  row_sum = 0;
  for_each_S([&](const Range&, const WeighedKeys<Element>& visible, Tile<Element>& S) {
    for (std::int64_t r = 0; r < S.rows(); ++r) {
      weigh(S.row(r), visible.of_row[r], shift_of(row_max[r]));
      row_sum[r] += S.row(r).sum();
    }
  });

  O = 0;
  for_each_S([&](const Range& keys, const WeighedKeys<Element>& visible, Tile<Element>& S) {
    for (std::int64_t r = 0; r < S.rows(); ++r) {
      weigh(S.row(r), visible.of_row[r], shift_of(row_max[r]));
      S.row(r) /= divisor_of(row_sum[r]);
    }
    const auto V = rows_of(call.V, tile.b, call.kv_head(tile.h), keys, call.head_dim);
    add_product(S, V, visible.of_row, O);
  });
  write_statistics(call, tile, row_max, row_sum, O);
}

}  // namespace

template <class Element>
void three_pass(const ForwardCall<Element>& call) {
  const ThreadMemory<Element> memory(call);
  for_each_query_tile<Element>(call, 0, 1,
                               [&](const QueryTile& tile) { three_passes(call, tile, memory); });
}

template void three_pass(const ForwardCall<float>&);
template void three_pass(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
