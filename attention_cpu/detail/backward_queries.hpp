// The queries' data for the backward pass, prepared once for all K/V tiles: in groups with one
// query per lane, the layout of right operands in detail/product.hpp.
//
// Memory  Q and dO once more, transposed, and four numbers per query; if head_dim is not a multiple
//         of the vector length, Q and dO a third time, with padded rows
#pragma once

#include <limits>

#include "attention_cpu/detail/call.hpp"
#include "attention_cpu/detail/exponential.hpp"
#include "attention_cpu/detail/finite.hpp"
#include "attention_cpu/detail/visible_in_tile.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

template <class Element>
inline std::int64_t padded_head_dim(std::int64_t head_dim) {
  return (head_dim + kLanes<Element> - 1) / kLanes<Element> * kLanes<Element>;
}

/// Consecutive queries of one head.
template <class Element>
struct QueryGroup {
  const Element* sQ;          // [head_dim, kGroup], times softmax_scale log2(e)
  const Element* sdO;         // [head_dim, kGroup]
  const Element* lse;         // [kGroup], in powers of two; +inf if nothing is visible: P = 0
  const Element* delta;       // [kGroup]: rowsum(dO o O)
  const KeyRange* visible;    // [kGroup]: the visible keys
  Operand<const Element> Q;   // [count, padded head_dim], row-major
  Operand<const Element> dO;  // the same
  int count;                  // number of queries
  KeyRange seen_by_all;
  KeyRange seen_by_any;  // from the first to the last
  bool is_finite;        // no NaN or infinity in Q and dO
};

template <class Element>
class BackwardQueries {
 public:
  explicit BackwardQueries(const BackwardCall<Element>& call)
      : call_(call),
        num_groups_((call.seqlen_q + kN - 1) / kN),
        is_padded_(padded_head_dim<Element>(call.head_dim) != call.head_dim),
        size_((2 * call.head_dim + 2) * kN +
              (is_padded_ ? 2 * kN * padded_head_dim<Element>(call.head_dim) : 0)) {
    Workspace& workspace = *call.workspace;
    const std::int64_t count = call.batch * call.num_heads * num_groups_;
    memory_ = workspace.allocate<Element>(count * size_);
    visible_ = workspace.allocate<KeyRange>(count * kN);
    seen_by_all_ = workspace.allocate<KeyRange>(count);
    finite_ = workspace.allocate<bool>(count);
  }

  std::int64_t num_groups() const { return num_groups_; }

  /// Called by all threads inside a parallel region. A barrier at the end lets all threads read.
  void load() {
#pragma omp for collapse(3) schedule(static)
    for (std::int64_t b = 0; b < call_.batch; ++b) {
      for (std::int64_t h = 0; h < call_.num_heads; ++h) {
        for (std::int64_t g = 0; g < num_groups_; ++g) load_group(b, h, g);
      }
    }
  }

  QueryGroup<Element> group(std::int64_t b, std::int64_t h, std::int64_t g) const {
    const std::int64_t head_dim = call_.head_dim, index = index_of(b, h, g), first = g * kN;
    const Element* const sQ = memory_ + index * size_;
    const Element* const sdO = sQ + head_dim * kN;
    const Element* const lse = sdO + head_dim * kN;
    const std::int64_t rest = call_.seqlen_q - first, padded = padded_head_dim<Element>(head_dim);
    QueryGroup<Element> group;
    group.sQ = sQ;
    group.sdO = sdO;
    group.lse = lse;
    group.delta = lse + kN;
    group.visible = visible_ + index * kN;
    group.count = static_cast<int>(rest < kN ? rest : kN);
    group.Q = {call_.Q.head(b, h) + first * call_.Q.row_stride, call_.Q.row_stride};
    group.dO = {call_.dO.head(b, h) + first * call_.dO.row_stride, call_.dO.row_stride};
    if (is_padded_) {
      group.Q = {lse + 2 * kN, padded};
      group.dO = {lse + 2 * kN + kN * padded, padded};
    }
    group.seen_by_all = seen_by_all_[index];
    group.seen_by_any = call_.keys_seen_by(b, first, group.count);
    group.is_finite = finite_[index];
    return group;
  }

  /// rowsum(dO o O) of query i, from O.
  Element delta(std::int64_t b, std::int64_t h, std::int64_t i) const {
    const Element* const o = call_.O.head(b, h) + i * call_.O.row_stride;
    const Element* const gradient = call_.dO.head(b, h) + i * call_.dO.row_stride;
    Element sum = 0;
    for (std::int64_t c = 0; c < call_.head_dim; ++c) sum += gradient[c] * o[c];
    return sum;
  }

 private:
  static constexpr std::int64_t kN = kGroup<Element>;

  std::int64_t index_of(std::int64_t b, std::int64_t h, std::int64_t g) const {
    return (b * call_.num_heads + h) * num_groups_ + g;
  }

  void load_group(std::int64_t b, std::int64_t h, std::int64_t g) {
    const std::int64_t head_dim = call_.head_dim, index = index_of(b, h, g);
    Element* const sQ = memory_ + index * size_;
    Element* const sdO = sQ + head_dim * kN;
    Element* const statistics = sdO + head_dim * kN;
    KeyRange* const visible = visible_ + index * kN;
    KeyRange& seen_by_all = seen_by_all_[index];
    for (std::int64_t k = 0; k < size_; ++k) sQ[k] = 0;
    for (std::int64_t k = 0; k < kN; ++k) visible[k] = {};
    const std::int64_t rest = call_.seqlen_q - g * kN, count = rest < kN ? rest : kN;
    const Element* const Q = call_.Q.head(b, h) + g * kN * call_.Q.row_stride;
    const Element* const dO = call_.dO.head(b, h) + g * kN * call_.dO.row_stride;
    transpose(Q, call_.Q.row_stride, count, head_dim, sQ, kN,
              static_cast<Element>(call_.softmax_scale * kLog2E));
    transpose<Element>(dO, call_.dO.row_stride, count, head_dim, sdO, kN, 1);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      load_statistics(b, h, g * kN + lane, statistics + lane);
      // A query without weights is excluded, even if it sees keys.
      const bool has_weights = statistics[lane] != std::numeric_limits<Element>::infinity();
      visible[lane] = has_weights ? call_.visible_keys(b, g * kN + lane) : KeyRange{};
      if (lane == 0) seen_by_all = visible[lane];
      if (visible[lane].first > seen_by_all.first) seen_by_all.first = visible[lane].first;
      if (visible[lane].end < seen_by_all.end) seen_by_all.end = visible[lane].end;
      if (is_padded_) {
        const std::int64_t padded = padded_head_dim<Element>(head_dim);
        Element* const rows = statistics + 2 * kN + lane * padded;
        for (std::int64_t c = 0; c < head_dim; ++c) rows[c] = Q[lane * call_.Q.row_stride + c];
        for (std::int64_t c = 0; c < head_dim; ++c) {
          rows[kN * padded + c] = dO[lane * call_.dO.row_stride + c];
        }
      }
    }
    finite_[index] = is_finite<Element>({Q, call_.Q.row_stride}, count, head_dim) &&
                     is_finite<Element>({dO, call_.dO.row_stride}, count, head_dim);
  }

  /// Stores lse and delta of query i, kN elements apart.
  void load_statistics(std::int64_t b, std::int64_t h, std::int64_t i, Element* to) const {
    constexpr Element kInfinity = std::numeric_limits<Element>::infinity();
    const Element lse = call_.lse.at(b, h, i);
    to[0] = lse == -kInfinity ? kInfinity : lse * static_cast<Element>(kLog2E);
    to[kN] = delta(b, h, i);
  }

  const BackwardCall<Element>& call_;
  const std::int64_t num_groups_;
  const bool is_padded_;
  const std::int64_t size_;  // elements per group
  Element* memory_;
  KeyRange *visible_, *seen_by_all_;
  bool* finite_;
};

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
