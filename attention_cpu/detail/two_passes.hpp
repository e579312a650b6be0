// The two passes of bwd-twopass over the tiles.
#pragma once

#include <omp.h>

#include "attention_cpu/detail/key_gradients.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Which delta = rowsum(dO o O) the passes use: the one that was computed before them, or one that
/// they compute from O whenever they meet a group of queries.
enum class Delta { kStored, kFromO };

/// The two passes over the tiles, dQ in the first one, dK and dV in the second one.
template <class Element, Delta kDelta>
class TwoPasses {
 public:
  explicit TwoPasses(const BackwardCall<Element>& call)
      : call_(call),
        queries_(call),
        num_kv_tiles_((call.seqlen_k + kBackwardBlockKV - 1) / kBackwardBlockKV) {
    Workspace& workspace = *call.workspace;
    memory_ = workspace.allocate<Element>(call.num_threads * per_thread());
  }

  void run() {
#pragma omp parallel num_threads(call_.num_threads)
    {
      queries_.load();
#pragma omp single
      call_.progress->begin(call_.batch * call_.num_heads * queries_.num_groups(), 0, 2);
#pragma omp for collapse(3) schedule(dynamic)
      for (std::int64_t b = 0; b < call_.batch; ++b) {
        for (std::int64_t h = 0; h < call_.num_heads; ++h) {
          for (std::int64_t g = 0; g < queries_.num_groups(); ++g) {
            // Under a causal mask the last groups see the most keys, so they start first.
            if (!call_.progress->cancelled()) query_pass(b, h, queries_.num_groups() - 1 - g);
          }
        }
      }
#pragma omp single
      call_.progress->begin(call_.batch * call_.num_kv_heads * num_kv_tiles_, 1, 2);
#pragma omp for collapse(3) schedule(dynamic)
      for (std::int64_t b = 0; b < call_.batch; ++b) {
        for (std::int64_t kv_head = 0; kv_head < call_.num_kv_heads; ++kv_head) {
          for (std::int64_t t = 0; t < num_kv_tiles_; ++t) {
            if (!call_.progress->cancelled()) key_pass(b, kv_head, t);
          }
        }
      }
    }
  }

 private:
  std::int64_t per_thread() const {
    return KeyGradients<Element>::elements(call_.head_dim) + (call_.head_dim + 1) * kGroup<Element>;
  }
  Element* memory() const { return memory_ + omp_get_thread_num() * per_thread(); }
  /// delta of the group of queries at hand, at the end of the thread's memory.
  Element* own_delta() const { return memory() + per_thread() - kGroup<Element>; }

  void load_o(QueryGroup<Element>& queries, std::int64_t b, std::int64_t h, std::int64_t g) const {
    if constexpr (kDelta == Delta::kFromO) {
      for (int lane = 0; lane < queries.count; ++lane)
        own_delta()[lane] = queries_.delta(b, h, g * kGroup<Element> + lane);
      queries.delta = own_delta();
    }
  }

  void query_pass(std::int64_t b, std::int64_t h, std::int64_t g) const {
    QueryGroup<Element> queries = queries_.group(b, h, g);
    load_o(queries, b, h, g);
    const Heads<const Element>&K = call_.K, &V = call_.V;
    BackwardTile<Element> tile = {};
    tile.head_dim = call_.head_dim;
    tile.sP = memory();
    tile.sdS = tile.sP + kBackwardBlockKV * kGroup<Element>;
    tile.dQ = tile.sdS + kBackwardBlockKV * kGroup<Element>;
    for (std::int64_t k = 0; k < call_.head_dim * kGroup<Element>; ++k) tile.dQ[k] = 0;
    const KeyRange seen = queries.seen_by_any;
    for (std::int64_t j = seen.first; j < seen.end; j += kBackwardBlockKV) {
      tile.K = {K.head(b, call_.kv_head(h)) + j * K.row_stride, K.row_stride};
      tile.V = {V.head(b, call_.kv_head(h)) + j * V.row_stride, V.row_stride};
      tile.first_key = j;
      tile.num_keys = kBackwardBlockKV;
      backward::meet(queries, tile);
    }
    backward::write_rows(call_, b, h, g, tile.dQ);
    call_.progress->finished();
  }

  void key_pass(std::int64_t b, std::int64_t kv_head, std::int64_t t) const {
    KeyGradients<Element>(call_, queries_, memory())
        .run(b, kv_head, t * kBackwardBlockKV,
             [&](BackwardTile<Element>&, QueryGroup<Element>& queries, std::int64_t h,
                 std::int64_t g) { load_o(queries, b, h, g); });
    call_.progress->finished();
  }

  const BackwardCall<Element>& call_;
  BackwardQueries<Element> queries_;
  const std::int64_t num_kv_tiles_;
  Element* memory_;
};

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
