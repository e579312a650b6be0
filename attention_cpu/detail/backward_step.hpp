// Combines one K/V tile with one group of queries: the five products of the backward pass, or the
// requested ones among them.
//
//   S = Q' K^T;  P = exp2(S - lse);  dP = dO V^T;  dS = P o (dP - delta)
//   dV += P^T dO;   dK += dS^T Q;   dQ += dS K
//
// dK and dQ are scaled by softmax_scale at the end.
//
// P, dP, dS are stored transposed, [keys, queries]: see detail/product.hpp.
#pragma once

#include "attention_cpu/detail/backward_queries.hpp"
#include "attention_cpu/detail/turn.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
struct BackwardTile {
  Operand<const Element> K, V;  // [num_keys, head_dim], row-major
  std::int64_t first_key, num_keys;
  std::int64_t head_dim;
  Element *sP, *sdS;  // [num_keys, kGroup]
  Element *dK, *dV;   // [num_keys, padded head_dim]; null: not requested
  Element* dQ;        // [head_dim, kGroup]; null: not requested
  Turn turn;          // the order of additions to dQ
};

namespace backward {

/// C [rows, columns] += A B, with as many columns at a time as fit the registers.
template <class Element>
void add_product(std::int64_t rows, std::int64_t depth, Operand<const Element> A,
                 Operand<const Element> B, Operand<Element> C, std::int64_t columns) {
  constexpr int kL = kLanes<Element>;
  const auto some_columns = [&]<int kVectors>() {
    product<Layout::kRows, Update::kAdd, kVectors, Element>(rows, depth, A, B, C);
    B.data += kVectors * kL;
    C.data += kVectors * kL;
    columns -= kVectors * kL;
  };
  while (columns > 4 * kL || columns == 3 * kL) some_columns.template operator()<3>();
  while (columns >= 2 * kL) some_columns.template operator()<2>();
  if (columns > 0) some_columns.template operator()<1>();
}

/// Replaces S and dP by P and dS; 0 for hidden pairs.
template <bool kMasked, int kVectors, class Element>
void probabilities(const QueryGroup<Element>& queries, const BackwardTile<Element>& tile) {
  constexpr int kL = kLanes<Element>, kN = kGroup<Element>;
  for (int lane = 0; lane < kVectors * kL; lane += kL) {
    const Vector<Element> lse = load(queries.lse + lane), delta = load(queries.delta + lane);
    const VisibleInTile<Element> visible(queries.visible + lane, tile.first_key,
                                         kMasked ? tile.num_keys : 0);
    for (std::int64_t j = 0; j < tile.num_keys; ++j) {
      Element* const at_p = tile.sP + j * kN + lane;
      Element* const at_ds = tile.sdS + j * kN + lane;
      Vector<Element> p = exp2<Element>(load<Element>(at_p) - lse);
      Vector<Element> ds = p * (load<Element>(at_ds) - delta);
      if constexpr (kMasked) {
        const auto is_visible = visible.contains(j);
        p = is_visible ? p : Vector<Element>{};
        ds = is_visible ? ds : Vector<Element>{};
      }
      store(at_p, p);
      store(at_ds, ds);
    }
  }
}

/// Adds the gradients of visible pairs only: 0 * NaN must not reach an excluded row.
template <class Element>
void add_visible(const QueryGroup<Element>& queries, const BackwardTile<Element>& tile) {
  constexpr int kN = kGroup<Element>;
  const std::int64_t padded = padded_head_dim<Element>(tile.head_dim);
  for (std::int64_t j = 0; j < tile.num_keys; ++j) {
    for (int i = 0; i < queries.count; ++i) {
      if (!queries.visible[i].contains(tile.first_key + j)) continue;
      const Element p = tile.sP[j * kN + i], ds = tile.sdS[j * kN + i];
      for (std::int64_t c = 0; c < tile.head_dim; ++c) {
        if (tile.dQ != nullptr) tile.dQ[c * kN + i] += ds * tile.K.data[j * tile.K.stride + c];
        if (tile.dV == nullptr) continue;
        tile.dV[j * padded + c] += p * queries.dO.data[i * queries.dO.stride + c];
        tile.dK[j * padded + c] += ds * queries.Q.data[i * queries.Q.stride + c];
      }
    }
  }
}

template <class Element>
bool all_finite(const QueryGroup<Element>& queries, const BackwardTile<Element>& tile) {
  return queries.is_finite && is_finite(tile.K, tile.num_keys, tile.head_dim) &&
         is_finite(tile.V, tile.num_keys, tile.head_dim);
}

template <int kVectors, class Element>
void step(const QueryGroup<Element>& queries, const BackwardTile<Element>& tile) {
  constexpr std::int64_t kN = kGroup<Element>;
  const std::int64_t padded = padded_head_dim<Element>(tile.head_dim);
  product<Layout::kRows, Update::kAssign, kVectors, Element>(tile.num_keys, tile.head_dim, tile.K,
                                                             {queries.sQ, kN}, {tile.sP, kN});
  product<Layout::kRows, Update::kAssign, kVectors, Element>(tile.num_keys, tile.head_dim, tile.V,
                                                             {queries.sdO, kN}, {tile.sdS, kN});
  const bool is_masked = hides_some(queries.seen_by_all, tile.first_key, tile.num_keys);
  if (is_masked) {
    probabilities<true, kVectors>(queries, tile);
  } else {
    probabilities<false, kVectors>(queries, tile);
  }
  if (is_masked && !all_finite(queries, tile)) {
    if (!tile.turn.wait()) return;
    add_visible(queries, tile);
    return tile.turn.pass_on();
  }
  if (tile.dV != nullptr) {
    add_product<Element>(tile.num_keys, queries.count, {tile.sP, kN}, queries.dO, {tile.dV, padded},
                         padded);
    add_product<Element>(tile.num_keys, queries.count, {tile.sdS, kN}, queries.Q, {tile.dK, padded},
                         padded);
  }
  if (tile.dQ != nullptr && tile.turn.wait()) {
    product<Layout::kColumns, Update::kAdd, kVectors, Element>(tile.head_dim, tile.num_keys, tile.K,
                                                               {tile.sdS, kN}, {tile.dQ, kN});
    tile.turn.pass_on();
  }
}

/// Does the same with the vectors that contain queries, and the keys of the tile that any
/// of them sees.
template <class Element>
void meet(const QueryGroup<Element>& queries, BackwardTile<Element> tile) {
  static_assert(kMicroVectors == 3);
  const KeyRange seen = within(queries.seen_by_any, tile.first_key, tile.num_keys);
  tile.K.data += seen.first * tile.K.stride;
  tile.V.data += seen.first * tile.V.stride;
  if (tile.dV != nullptr) {
    const std::int64_t skipped = seen.first * padded_head_dim<Element>(tile.head_dim);
    tile.dK += skipped;
    tile.dV += skipped;
  }
  tile.first_key += seen.first;
  tile.num_keys = seen.count();
  if (queries.count > 2 * kLanes<Element>) {
    step<3>(queries, tile);
  } else if (queries.count > kLanes<Element>) {
    step<2>(queries, tile);
  } else {
    step<1>(queries, tile);
  }
}

/// Writes a group's dQ [head_dim, kGroup], scaled, to the caller's rows; null: zeros.
template <class Element>
void write_rows(const BackwardCall<Element>& call, std::int64_t b, std::int64_t h, std::int64_t g,
                const Element* gradient) {
  constexpr std::int64_t kN = kGroup<Element>;
  const std::int64_t rest = call.seqlen_q - g * kN, count = rest < kN ? rest : kN;
  Element* const dQ = call.dQ.head(b, h) + g * kN * call.dQ.row_stride;
  if (gradient != nullptr) {
    return transpose(gradient, kN, call.head_dim, count, dQ, call.dQ.row_stride,
                     static_cast<Element>(call.softmax_scale));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t c = 0; c < call.head_dim; ++c) dQ[i * call.dQ.row_stride + c] = 0;
  }
}

}  // namespace backward
}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
