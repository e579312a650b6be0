// flash1 forward: the outer loop is over tiles of K and V, the inner loop over queries and outputs.
//
//   m = -inf, l = 0, O = 0 for all queries
//   for each K/V tile j:
//     for each query tile i:
//       S = softmax_scale Q_i K_j^T;   m' = max(m_i, rowmax S);   P = exp(S - m')
//       a = l_i exp(m_i - m');         l' = a + rowsum P
//       O_i = (a O_i + P V_j) / l';    m_i = m', l_i = l'
//   lse = m + log l
//
// Shapes     attention/problem.hpp;  m, l  [batch, num_heads, seqlen_q]
// Tiles      kBlockQ queries, kBlockKV keys; S, then P in its place, one tile per thread
// Parallel   inside one K/V tile over batch, heads and query tiles; the K/V tiles one after another
// Traffic    K and V once per query tile that sees them, from a cache; once per K/V tile: Q is
//            read, and O, m, l are read and written
// Workspace  2 batch num_heads seqlen_q + num_threads kBlockQ (kBlockKV + 2) elements
// Against    online: one tile of queries and keys at a time; O is divided by its sum in each step
// Source     Dao et al. 2022, FlashAttention, algorithm 1; toymachine/programs/flash1.toy
#include "attention_cpu/detail/build.hpp"
//
#include "attention_cpu/detail/tiles.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
struct Running {
  Element *row_max, *row_sum;  // m, l
};

template <class Element>
void start(const ForwardCall<Element>& call, const Running<Element>& running,
           const QueryTile& tile) {
  stored_column(running.row_max, call, tile) = -kInfinity<Element>;
  stored_column(running.row_sum, call, tile) = 0;
  rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim) = 0;
}

template <class Element>
void add_key_range(const ForwardCall<Element>& call, const Running<Element>& running,
                   const Range& keys, const QueryTile& tile, Tile<Element> S) {
  const auto Q = rows_of(call.Q, tile.b, tile.h, tile.queries, call.head_dim);
  const auto K = rows_of(call.K, tile.b, call.kv_head(tile.h), keys, call.head_dim);
  const auto V = rows_of(call.V, tile.b, call.kv_head(tile.h), keys, call.head_dim);
  auto O = rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim);
  auto row_max = stored_column(running.row_max, call, tile);
  auto row_sum = stored_column(running.row_sum, call, tile);
  const WeighedKeys<Element> visible(call, tile, keys);

  set_product(static_cast<Element>(call.softmax_scale), Q, K, S);
  make_scores(S);
  for (std::int64_t r = 0; r < S.rows(); ++r) {
    const Element tile_max = largest(segment_of(S.row(r), visible.of_row[r]));
    const Element new_max = tile_max > row_max[r] ? tile_max : row_max[r];
    const Element shift = shift_of(new_max);
    weigh(S.row(r), visible.of_row[r], shift);  // P
    const Element weight_of_O = row_sum[r] * std::exp(row_max[r] - shift);
    row_max[r] = new_max;
    row_sum[r] = weight_of_O + S.row(r).sum();
    O.row(r) *= weight_of_O;
  }
  add_product(S, V, visible.of_row, O);
  for (std::int64_t r = 0; r < S.rows(); ++r) O.row(r) /= divisor_of(row_sum[r]);
}

}  // namespace

template <class Element>
void flash1(const ForwardCall<Element>& call) {
  const Running<Element> running = {allocate_rows<Element>(call, *call.workspace, 1),
                                    allocate_rows<Element>(call, *call.workspace, 1)};
  const ThreadMemory<Element> memory(call);
  const std::int64_t num_kv_tiles = (call.seqlen_k + kBlockKV<Element> - 1) / kBlockKV<Element>;
  const std::int64_t num_passes = num_kv_tiles + 2;

  for_each_query_tile<Element>(call, 0, num_passes,
                               [&](const QueryTile& tile) { start(call, running, tile); });
  for_each_block<kBlockKV<Element>>(call.seqlen_k, [&](const Range& keys) {
    const std::int64_t pass = 1 + keys.first / kBlockKV<Element>;
    for_each_query_tile<Element>(call, pass, num_passes, [&](const QueryTile& tile) {
      const KeyRange visible = visible_to_tile(call, tile);
      if (within(visible, keys.first, keys.count).count() == 0) return;
      add_key_range(call, running, keys, tile, memory.S(tile, keys));
    });
  });
  for_each_query_tile<Element>(call, num_passes - 1, num_passes, [&](const QueryTile& tile) {
    write_statistics(call, tile, stored_column(running.row_max, call, tile),
                     stored_column(running.row_sum, call, tile),
                     rows_of(call.O, tile.b, tile.h, tile.queries, call.head_dim));
  });
}

template void flash1(const ForwardCall<float>&);
template void flash1(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
