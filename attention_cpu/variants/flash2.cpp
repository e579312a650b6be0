// flash2 forward: one pass over K and V for each tile of queries; S and P are never stored.
//
//   m = -inf, l = 0, O = 0
//   for each K/V tile j:   S = scale * Q Kj^T;  m' = max(m, rowmax S);  P = exp(S - m')
//                          l = l exp(m - m') + rowsum P;  O = O exp(m - m') + P Vj;  m = m'
//   O = O / l,  lse = m + log l
//
// Shapes   attention/problem.hpp
// Tiles    a tile of queries is kNumGroups groups of kGroup lanes (detail/forward_group.hpp has the
//          steps above); K/V tiles of kForwardBlockKV rows stay in L2 for all of them; hidden tiles
//          are skipped, only tiles that the mask cuts are masked
// Parallel over batch, heads and tiles of queries
// Traffic  K and V once for each tile of queries; Q once; writes O and lse once
// Memory   a tile's Q, O, S per thread, independent of N
// Against  naive: S and P never leave the cache
// Source   Dao 2023, FlashAttention-2, algorithm 1
#include "attention_cpu/detail/build.hpp"
//
#include <omp.h>

#include "attention_cpu/detail/forward_group.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

/// Groups that use one K/V tile while it is in L2.
constexpr int kNumGroups = 4;

template <class Element>
constexpr std::int64_t kFlash2BlockQ = std::int64_t{kNumGroups} * kGroup<Element>;

template <class Element>
class Flash2Tile {
 public:
  Flash2Tile(const ForwardCall<Element>& call, Element* memory) : call_(call), memory_(memory) {}

  static std::int64_t elements(std::int64_t head_dim) {
    return kNumGroups * ForwardGroup<Element>::elements(head_dim) +
           ForwardGroup<Element>::shared_elements();
  }

  void run(std::int64_t b, std::int64_t h, std::int64_t first_query) {
    load_queries(b, h, first_query);
    const std::int64_t kv_head = call_.kv_head(h);
    const Element *const K = call_.K.head(b, kv_head), *const V = call_.V.head(b, kv_head);
    const std::int64_t k_stride = call_.K.row_stride, v_stride = call_.V.row_stride;
    const std::int64_t end_key = lanes_[num_groups_ - 1].seen_by_any.end;
    for (std::int64_t j = lanes_[0].seen_by_any.first; j < end_key; j += kForwardBlockKV) {
      for (int g = 0; g < num_groups_; ++g) {
        const KeyRange seen = within(lanes_[g].seen_by_any, j, kForwardBlockKV);
        if (seen.count() == 0) continue;
        const std::int64_t first_key = j + seen.first;
        const KeyTile<Element> tile = {{K + first_key * k_stride, k_stride},
                                       {V + first_key * v_stride, v_stride},
                                       first_key,
                                       seen.count()};
        forward::attend_lanes(group(g), tile, call_.head_dim, lanes_[g]);
      }
    }
    write_outputs(b, h, first_query);
  }

 private:
  ForwardGroup<Element> group(int g) const {
    Element* const shared = memory_ + kNumGroups * ForwardGroup<Element>::elements(call_.head_dim);
    return {memory_ + g * ForwardGroup<Element>::elements(call_.head_dim), shared, call_.head_dim};
  }

  void load_queries(std::int64_t b, std::int64_t h, std::int64_t first_query) {
    const std::int64_t stride = call_.Q.row_stride;
    num_groups_ = 0;
    for (std::int64_t i = first_query; i < call_.seqlen_q && num_groups_ < kNumGroups;
         i += kGroup<Element>) {
      const ForwardGroup<Element> to = group(num_groups_);
      Lanes& lanes = lanes_[num_groups_++];
      const std::int64_t rest = call_.seqlen_q - i;
      lanes.count = static_cast<int>(rest < kGroup<Element> ? rest : kGroup<Element>);
      const KeyRange first = call_.visible_keys(b, i),
                     last = call_.visible_keys(b, i + lanes.count - 1);
      lanes.seen_by_all = {last.first, first.end};
      lanes.seen_by_any = {first.first, last.end};
      forward::clear(to, call_.head_dim);
      forward::set_queries(to, 0, {call_.Q.head(b, h) + i * stride, stride}, lanes.count,
                           call_.head_dim, call_.softmax_scale);
      for (int lane = 0; lane < lanes.count; ++lane) {
        to.visible[lane] = call_.visible_keys(b, i + lane);
      }
    }
  }

  void write_outputs(std::int64_t b, std::int64_t h, std::int64_t first_query) {
    const std::int64_t stride = call_.O.row_stride;
    std::int64_t i = first_query;
    for (int g = 0; g < num_groups_; i += lanes_[g++].count) {
      for (int lane = 0; lane < lanes_[g].count; ++lane) {
        call_.lse.at(b, h, i + lane) = forward::logsumexp(group(g), lane);
      }
      forward::normalise(group(g), call_.head_dim);
      forward::write_outputs(group(g), 0, lanes_[g].count, call_.head_dim,
                             {call_.O.head(b, h) + i * stride, stride});
    }
  }

  const ForwardCall<Element>& call_;
  Element* memory_;
  Lanes lanes_[kNumGroups];
  int num_groups_ = 0;
};

}  // namespace

template <class Element>
void flash2(const ForwardCall<Element>& call) {
  const std::int64_t num_q_tiles =
      (call.seqlen_q + kFlash2BlockQ<Element> - 1) / kFlash2BlockQ<Element>;
  const std::int64_t per_thread = Flash2Tile<Element>::elements(call.head_dim);
  Workspace& workspace = *call.workspace;
  Element* const memory = workspace.allocate<Element>(call.num_threads * per_thread);
  call.progress->begin(call.batch * call.num_heads * num_q_tiles);
#pragma omp parallel for collapse(3) num_threads(call.num_threads) schedule(dynamic)
  for (std::int64_t b = 0; b < call.batch; ++b) {
    for (std::int64_t h = 0; h < call.num_heads; ++h) {
      for (std::int64_t t = 0; t < num_q_tiles; ++t) {
        if (call.progress->cancelled()) continue;
        // Under a causal mask the last tiles see the most keys, so they start first.
        const std::int64_t q_tile = num_q_tiles - 1 - t;
        Flash2Tile<Element>(call, memory + omp_get_thread_num() * per_thread)
            .run(b, h, q_tile * kFlash2BlockQ<Element>);
        call.progress->finished();
      }
    }
  }
}

template void flash2(const ForwardCall<float>&);
template void flash2(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
