// A group of queries in the loop over keys: the state of flash2 and split-kv, one query per lane.
//
//   for each K/V tile j:  S = Q' Kj^T;  m' = max(m, rowmax S);  P = exp2(S - m')
//                         l = l exp2(m - m') + rowsum P;  O = O exp2(m - m') + P Vj;  m = m'
//
// with Q' = softmax_scale log2(e) Q, so that S is in powers of two. All tiles are stored
// transposed: sQ, sO [head_dim, lanes], sP [kForwardBlockKV, lanes].
#pragma once

#include <cmath>
#include <limits>

#include "attention/score.hpp"
#include "attention_cpu/detail/call.hpp"
#include "attention_cpu/detail/exponential.hpp"
#include "attention_cpu/detail/finite.hpp"
#include "attention_cpu/detail/product.hpp"
#include "attention_cpu/detail/visible_in_tile.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Keys and values of one tile: S of one group fits a part of L1 or L2.
inline constexpr int kForwardBlockKV = 128;

template <class Element>
struct ForwardGroup {
  Element* sQ;        // [head_dim, kGroup]
  Element* sO;        // [head_dim, kGroup]
  Element* sP;        // [kForwardBlockKV, kGroup]; shared by the groups of a thread
  Element* row_max;   // [kGroup], in powers of two
  Element* row_sum;   // [kGroup]
  KeyRange* visible;  // [kGroup]: the visible keys

  static std::int64_t elements(std::int64_t head_dim) {
    constexpr auto kPerRange = static_cast<std::int64_t>(sizeof(KeyRange) / sizeof(Element));
    return (2 * head_dim + 2 + kPerRange) * kGroup<Element>;
  }
  static std::int64_t shared_elements() { return kForwardBlockKV * kGroup<Element>; }
  ForwardGroup(Element* memory, Element* shared, std::int64_t head_dim)
      : sQ(memory),
        sO(sQ + head_dim * kGroup<Element>),
        sP(shared),
        row_max(sO + head_dim * kGroup<Element>),
        row_sum(row_max + kGroup<Element>),
        visible(reinterpret_cast<KeyRange*>(row_sum + kGroup<Element>)) {}
};

/// The used lanes of a group, the keys that all of them see, and those from the first to the last
/// that any of them sees.
struct Lanes {
  int count = 0;
  KeyRange seen_by_all, seen_by_any;
};

template <class Element>
struct KeyTile {
  Operand<const Element> K, V;  // [num_keys, head_dim]
  std::int64_t first_key, num_keys;
};

namespace forward {

/// Initial state before the first tile. Lanes without a query are 0 and see no key.
template <class Element>
void clear(const ForwardGroup<Element>& group, std::int64_t head_dim) {
  constexpr int kN = kGroup<Element>;
  for (std::int64_t k = 0; k < head_dim * kN; ++k) group.sQ[k] = 0;
  for (std::int64_t k = 0; k < head_dim * kN; ++k) group.sO[k] = 0;
  for (int lane = 0; lane < kN; ++lane) {
    group.row_max[lane] = -std::numeric_limits<Element>::infinity();
    group.row_sum[lane] = 0;
    group.visible[lane] = {};
  }
}

/// Stores `count` rows of queries in the lanes from `lane` on.
template <class Element>
void set_queries(const ForwardGroup<Element>& group, int lane, Operand<const Element> Q,
                 std::int64_t count, std::int64_t head_dim, double softmax_scale) {
  transpose(Q.data, Q.stride, count, head_dim, group.sQ + lane, std::int64_t{kGroup<Element>},
            static_cast<Element>(softmax_scale * kLog2E));
}

/// Sets the scores of hidden pairs to -inf.
template <int kVectors, class Element>
void mask(const ForwardGroup<Element>& group, const KeyTile<Element>& tile) {
  constexpr int kL = kLanes<Element>;
  const Vector<Element> minus_infinity = broadcast(-std::numeric_limits<Element>::infinity());
  for (int lane = 0; lane < kVectors * kL; lane += kL) {
    const VisibleInTile<Element> visible(group.visible + lane, tile.first_key, tile.num_keys);
    for (std::int64_t j = 0; j < tile.num_keys; ++j) {
      Element* const s = group.sP + j * kGroup<Element> + lane;
      store(s, visible.contains(j) ? load<Element>(s) : minus_infinity);
    }
  }
}

/// Updates the maximum score of each lane; ignores NaN (its exponential will be NaN).
template <int kVectors, class Element>
void row_maxima(const ForwardGroup<Element>& group, std::int64_t num_keys,
                Vector<Element> (&result)[kVectors]) {
  constexpr int kL = kLanes<Element>, kN = kGroup<Element>;
  for (int v = 0; v < kVectors; ++v) result[v] = load(group.row_max + v * kL);
  std::int64_t j = 0;
  for (; j + 4 <= num_keys; j += 4) {  // pairs first, to shorten the chain of dependent maxima
    for (int v = 0; v < kVectors; ++v) {
      const Element* const s = group.sP + j * kN + v * kL;
      const Vector<Element> pair = maximum(load<Element>(s), load<Element>(s + kN));
      const Vector<Element> other = maximum(load<Element>(s + 2 * kN), load<Element>(s + 3 * kN));
      result[v] = maximum(maximum(pair, other), result[v]);
    }
  }
  for (; j < num_keys; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      result[v] = maximum(load<Element>(group.sP + j * kN + v * kL), result[v]);
    }
  }
}

/// The value to subtract from scores. It is 0 for a row with only -inf so far: exp(-inf - -inf)
/// would be NaN.
template <class Element>
Vector<Element> or_zero_if_nothing_seen(Vector<Element> row_max) {
  const auto nothing_seen = row_max == broadcast(-std::numeric_limits<Element>::infinity());
  return nothing_seen ? Vector<Element>{} : row_max;
}

/// Rescales O and l to the new maximum.
template <int kVectors, class Element>
void rescale(const ForwardGroup<Element>& group, std::int64_t head_dim,
             const Vector<Element> (&new_max)[kVectors]) {
  constexpr int kL = kLanes<Element>;
  for (int v = 0; v < kVectors; ++v) {
    const Vector<Element> old_max = load(group.row_max + v * kL);
    if (!any(new_max[v] != old_max)) continue;
    const Vector<Element> factor =
        exp2<Element>(old_max - or_zero_if_nothing_seen<Element>(new_max[v]));
    store(group.row_max + v * kL, new_max[v]);
    store(group.row_sum + v * kL, factor * load(group.row_sum + v * kL));
    for (std::int64_t c = 0; c < head_dim; ++c) {
      Element* const o = group.sO + c * kGroup<Element> + v * kL;
      store(o, factor * load<Element>(o));
    }
  }
}

/// P = exp2(S - m) over S, and l += rowsum P.
template <int kVectors, class Element>
void exponentials(const ForwardGroup<Element>& group, std::int64_t num_keys) {
  constexpr int kL = kLanes<Element>;
  for (int v = 0; v < kVectors; ++v) {
    const Vector<Element> subtracted =
        or_zero_if_nothing_seen<Element>(load(group.row_max + v * kL));
    Vector<Element> sum = {};
    for (std::int64_t j = 0; j < num_keys; ++j) {
      Element* const s = group.sP + j * kGroup<Element> + v * kL;
      const Vector<Element> p = exp2<Element>(load<Element>(s) - subtracted);
      store(s, p);
      sum += p;
    }
    store(group.row_sum + v * kL, load(group.row_sum + v * kL) + sum);
  }
}

/// O += P V for visible pairs only: 0 * NaN must not reach a row that does not see the NaN.
template <class Element>
void add_visible(const ForwardGroup<Element>& group, const KeyTile<Element>& tile,
                 std::int64_t head_dim, int lanes) {
  constexpr int kN = kGroup<Element>;
  for (std::int64_t j = 0; j < tile.num_keys; ++j) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (!group.visible[lane].contains(tile.first_key + j)) continue;
      const Element p = group.sP[j * kN + lane];
      for (std::int64_t c = 0; c < head_dim; ++c) {
        group.sO[c * kN + lane] += p * tile.V.data[j * tile.V.stride + c];
      }
    }
  }
}

/// Processes one K/V tile for the group's first kVectors vectors of queries.
template <int kVectors, class Element>
void attend(const ForwardGroup<Element>& group, const KeyTile<Element>& tile, std::int64_t head_dim,
            const Lanes& lanes) {
  constexpr std::int64_t kN = kGroup<Element>;
  product<Layout::kRows, Update::kAssign, kVectors, Element>(tile.num_keys, head_dim, tile.K,
                                                             {group.sQ, kN}, {group.sP, kN});
  make_scores(group.sP, tile.num_keys * kN, static_cast<Element>(kLog2E));
  const bool is_masked = hides_some(lanes.seen_by_all, tile.first_key, tile.num_keys);
  if (is_masked) mask<kVectors>(group, tile);
  Vector<Element> new_max[kVectors];
  row_maxima<kVectors>(group, tile.num_keys, new_max);
  rescale<kVectors>(group, head_dim, new_max);
  exponentials<kVectors>(group, tile.num_keys);
  if (is_masked && !is_finite(tile.V, tile.num_keys, head_dim)) {
    return add_visible(group, tile, head_dim, lanes.count);
  }
  product<Layout::kColumns, Update::kAdd, kVectors, Element>(head_dim, tile.num_keys, tile.V,
                                                             {group.sP, kN}, {group.sO, kN});
}

/// Does the same for the vectors that contain used lanes.
template <class Element>
void attend_lanes(const ForwardGroup<Element>& group, const KeyTile<Element>& tile,
                  std::int64_t head_dim, const Lanes& lanes) {
  static_assert(kMicroVectors == 3);
  if (lanes.count > 2 * kLanes<Element>) {
    attend<3>(group, tile, head_dim, lanes);
  } else if (lanes.count > kLanes<Element>) {
    attend<2>(group, tile, head_dim, lanes);
  } else {
    attend<1>(group, tile, head_dim, lanes);
  }
}

/// Merges two states into that of all their keys. Merging is associative and
/// commutative (toy-model notes).
template <class Element>
void merge(const ForwardGroup<Element>& into, const ForwardGroup<Element>& other,
           std::int64_t head_dim) {
  constexpr int kL = kLanes<Element>, kN = kGroup<Element>;
  for (int v = 0; v < kMicroVectors * kL; v += kL) {
    const Vector<Element> old_max = load(into.row_max + v), other_max = load(other.row_max + v);
    const Vector<Element> new_max = maximum(other_max, old_max);
    const Vector<Element> subtracted = or_zero_if_nothing_seen<Element>(new_max);
    const Vector<Element> factor = exp2<Element>(old_max - subtracted),
                          other_factor = exp2<Element>(other_max - subtracted);
    store(into.row_max + v, new_max);
    store(into.row_sum + v,
          factor * load(into.row_sum + v) + other_factor * load(other.row_sum + v));
    for (std::int64_t c = v; c < head_dim * kN; c += kN) {
      store(into.sO + c, factor * load(into.sO + c) + other_factor * load(other.sO + c));
    }
  }
}

/// lse of a lane, in natural logarithms.
template <class Element>
Element logsumexp(const ForwardGroup<Element>& group, int lane) {
  if (group.row_sum[lane] == 0) return -std::numeric_limits<Element>::infinity();
  return (group.row_max[lane] + std::log2(group.row_sum[lane])) * static_cast<Element>(kLn2);
}

/// O = O / l, at the end; 0 for a row that saw nothing.
template <class Element>
void normalise(const ForwardGroup<Element>& group, std::int64_t head_dim) {
  constexpr int kL = kLanes<Element>, kN = kGroup<Element>;
  for (int v = 0; v < kMicroVectors; ++v) {
    const Vector<Element> sum = load(group.row_sum + v * kL);
    const Vector<Element> factor = sum == 0 ? Vector<Element>{} : 1 / sum;
    for (std::int64_t c = 0; c < head_dim; ++c) {
      Element* const o = group.sO + c * kN + v * kL;
      store(o, factor * load<Element>(o));
    }
  }
}

/// Writes O of `count` lanes from `lane` on to rows [head_dim].
template <class Element>
void write_outputs(const ForwardGroup<Element>& group, int lane, std::int64_t count,
                   std::int64_t head_dim, Operand<Element> O) {
  transpose<Element>(group.sO + lane, kGroup<Element>, head_dim, count, O.data, O.stride, 1);
}

}  // namespace forward
}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
