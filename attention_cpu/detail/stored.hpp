// Arrays of seqlen_q x seqlen_k per head, for variants that store them. A block of queries of such
// an array is a product of two heads, or the weights for the rows of a third.
#pragma once

#include "attention_cpu/detail/tiles.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Rows of a workspace array [batch, num_heads, seqlen_q, seqlen_k].
template <class Element>
Tile<Element> stored_rows(Element* array, const Sizes& sizes, const QueryTile& tile) {
  const std::int64_t row = (tile.b * sizes.num_heads + tile.h) * sizes.seqlen_q;
  return {array + (row + tile.queries.first) * sizes.seqlen_k, tile.queries.count, sizes.seqlen_k,
          Eigen::OuterStride<>(sizes.seqlen_k)};
}

/// The memory of a forward variant that stores S and then P in its place.
template <class Element>
struct StoredScores {
  Element *S_then_P, *row_max, *row_sum;

  explicit StoredScores(const ForwardCall<Element>& call)
      : S_then_P(allocate_rows<Element>(call, *call.workspace, call.seqlen_k)),
        row_max(allocate_rows<Element>(call, *call.workspace, 1)),
        row_sum(allocate_rows<Element>(call, *call.workspace, 1)) {}
};

/// array = scale A B^T for a tile's queries: S from Q and K, dP from dO and V.
template <class Element>
void store_product(const Sizes& sizes, const QueryTile& tile, Element scale,
                   const Heads<const Element>& A, const Heads<const Element>& B, Element* array) {
  const auto A_rows = rows_of(A, tile.b, tile.h, tile.queries, sizes.head_dim);
  const auto stored = stored_rows(array, sizes, tile);
  for_each_block<kBlockKV<Element>>(sizes.seqlen_k, [&](const Range& keys) {
    const auto B_rows = rows_of(B, tile.b, sizes.kv_head(tile.h), keys, sizes.head_dim);
    set_product(scale, A_rows, B_rows, columns(stored, keys));
  });
}

/// sum = array B for a tile's queries: O from P and V, dQ from dS and K.
template <class Element, class Call>
void set_weighted_sum(const Call& call, const QueryTile& tile, Element* array,
                      const Heads<const Element>& B, Tile<Element> sum) {
  const auto weights = stored_rows(array, call, tile);
  sum.setZero();
  for_each_block<kBlockKV<Element>>(call.seqlen_k, [&](const Range& keys) {
    const auto B_rows = rows_of(B, tile.b, call.kv_head(tile.h), keys, call.head_dim);
    const WeighedKeys<Element> weighed(call, tile, keys);
    add_product(columns(weights, keys), B_rows, weighed.of_row, sum);
  });
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
