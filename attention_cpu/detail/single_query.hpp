// One query in the loop over keys, for groups in which most lanes would be empty. Vectors are along
// head_dim for the products and along the keys for the softmax. The steps and the state are those
// of detail/forward_group.hpp.
//
// Floor    K and V are read once, head_dim multiply-adds each: limited by bandwidth
#pragma once

#include "attention_cpu/detail/forward_group.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Groups of up to this many queries process their queries one by one.
inline constexpr int kFewQueries = 4;

namespace single_query {

/// s[j] = q . K_j for `num_keys` keys, kLanes at a time. Each key has a vector of partial sums; a
/// transposition adds them at the end.
template <class Element>
void scores(const Element* q, Operand<const Element> K, std::int64_t num_keys,
            std::int64_t head_dim, Element* s) {
  constexpr int kL = kLanes<Element>;
  for (std::int64_t j = 0; j < num_keys; j += kL) {
    // Beyond the last key, repeats the last one: these scores are not used.
    const std::int64_t last = num_keys - 1 - j;
    const Element* const k = K.data + j * K.stride;
    Vector<Element> sums[kL] = {};
    for (std::int64_t c = 0; c < head_dim; c += kL) {
      const Vector<Element> q_c = load(q + c);
#pragma GCC unroll 16
      for (int row = 0; row < kL; ++row) {
        sums[row] += q_c * load(k + (row < last ? row : last) * K.stride + c);
      }
    }
    transposition::exchange_all<1, Element>(sums);
    Vector<Element> total = {};
#pragma GCC unroll 16
    for (int row = 0; row < kL; ++row) total += sums[row];
    store(s + j, total);
  }
}

/// o += sum p[j] V_j.
template <class Element>
void add_values(const Element* p, Operand<const Element> V, std::int64_t num_keys,
                std::int64_t head_dim, Element* o) {
  constexpr int kL = kLanes<Element>, kVectors = 4;
  const auto some_columns = [&]<int kCount>(std::int64_t first) {
    Vector<Element> sums[2][kCount] = {};  // two sums, to shorten the chain of dependent additions
    const Element* v = V.data + first;
    for (std::int64_t j = 0; j < num_keys; ++j, v += V.stride) {
      const Vector<Element> p_j = broadcast(p[j]);
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) {
        sums[0][c] += p_j * load(v + c * kL);
      }
      if (++j == num_keys) break;
      v += V.stride;
      const Vector<Element> next_p = broadcast(p[j]);
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) sums[1][c] += next_p * load(v + c * kL);
    }
#pragma GCC unroll 4
    for (int c = 0; c < kCount; ++c) {
      Element* const to = o + first + c * kL;
      store(to, load<Element>(to) + (sums[0][c] + sums[1][c]));
    }
  };
  std::int64_t c = 0;
  for (; c + kVectors * kL <= head_dim; c += kVectors * kL) {
    some_columns.template operator()<kVectors>(c);
  }
  for (; c < head_dim; c += kL) some_columns.template operator()<1>(c);
}

/// Returns the maximum of `count` scores and `so_far`; ignores NaN.
template <class Element>
Element maximum_of(const Element* s, std::int64_t count, Element so_far) {
  for (std::int64_t j = 0; j < count; ++j) so_far = s[j] > so_far ? s[j] : so_far;
  return so_far;
}

/// Replaces S by P = exp2(S - subtracted) and returns the sum. Sets elements after `count` to 0.
template <class Element>
Element exponentials(Element* s, std::int64_t count, Element subtracted) {
  constexpr int kL = kLanes<Element>;
  Vector<Element> sums = {};
  for (std::int64_t j = 0; j < count; j += kL) {
    for (std::int64_t k = count; k < j + kL; ++k) s[k] = -std::numeric_limits<Element>::infinity();
    const Vector<Element> p = exp2<Element>(load(s + j) - broadcast(subtracted));
    store(s + j, p);
    sums += p;
  }
  Element sum = 0;
  for (int lane = 0; lane < kL; ++lane) sum += sums[lane];
  return sum;
}

/// The part of sP that attend() uses: the scores, q and o.
inline std::int64_t shared_elements(std::int64_t head_dim) {
  return kForwardBlockKV + 2 * head_dim;
}

/// Processes one K/V tile for the query in lane `lane`. head_dim is a multiple of kLanes.
template <class Element>
void attend(const ForwardGroup<Element>& group, int lane, KeyTile<Element> tile,
            std::int64_t head_dim) {
  constexpr int kN = kGroup<Element>;
  constexpr Element kInfinity = std::numeric_limits<Element>::infinity();
  const KeyRange visible = within(group.visible[lane], tile.first_key, tile.num_keys);
  const std::int64_t num_keys = visible.count();
  if (num_keys == 0) return;
  tile.K.data += visible.first * tile.K.stride;
  tile.V.data += visible.first * tile.V.stride;
  Element* const s = group.sP;
  Element* const q = s + kForwardBlockKV;
  Element* const o = q + head_dim;
  for (std::int64_t c = 0; c < head_dim; ++c) q[c] = group.sQ[c * kN + lane];
  scores(q, tile.K, num_keys, head_dim, s);
  make_scores(s, num_keys, static_cast<Element>(kLog2E));

  const Element old_max = group.row_max[lane], new_max = maximum_of(s, num_keys, old_max);
  const Element subtracted = new_max == -kInfinity ? 0 : new_max;
  const Element rescale = std::exp2(old_max - subtracted);
  group.row_max[lane] = new_max;
  group.row_sum[lane] = rescale * group.row_sum[lane] + exponentials(s, num_keys, subtracted);
  for (std::int64_t c = 0; c < head_dim; ++c) o[c] = rescale * group.sO[c * kN + lane];
  add_values<Element>(s, tile.V, num_keys, head_dim, o);
  for (std::int64_t c = 0; c < head_dim; ++c) group.sO[c * kN + lane] = o[c];
}

}  // namespace single_query
}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
