// bwd-twopass: one pass over the tiles for dQ, one for dK and dV; threads never wait
// for each other.
//
//   delta = rowsum(dO o O)
//   for each group of queries i:  dQi = 0
//     for each K/V tile j:          P = exp(scale Q Kj^T - lse);  dS = P o (dO Vj^T - delta)
//                                   dQi += scale dS Kj
//   for each K/V tile j:          dKj = 0, dVj = 0
//     for each group of queries i:  P and dS again;  dVj += P^T dO;  dKj += scale dS^T Q
//
// Shapes   attention/problem.hpp
// Tiles    as bwd-onepass
// Parallel over batch, heads and groups of queries, then over batch, kv heads and K/V tiles; every
//          sum has a fixed order, so the bits do not depend on the number of threads
// Traffic  K and V once for each group, Q and dO once for each K/V tile
// Memory   detail/backward_queries.hpp, and a tile's P, dS, dK, dV per thread
// Against  bwd-onepass: S and dP computed twice (seven products instead of five), nothing shared
// Source   two-option algorithm, option 2
#include "attention_cpu/detail/build.hpp"
//
#include <omp.h>

#include "attention_cpu/detail/key_gradients.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
class TwoPass {
 public:
  explicit TwoPass(const BackwardCall<Element>& call)
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
    return KeyGradients<Element>::elements(call_.head_dim) + call_.head_dim * kGroup<Element>;
  }
  Element* memory() const { return memory_ + omp_get_thread_num() * per_thread(); }

  void query_pass(std::int64_t b, std::int64_t h, std::int64_t g) const {
    const QueryGroup<Element> queries = queries_.group(b, h, g);
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
             [](BackwardTile<Element>&, std::int64_t, std::int64_t) {});
    call_.progress->finished();
  }

  const BackwardCall<Element>& call_;
  BackwardQueries<Element> queries_;
  const std::int64_t num_kv_tiles_;
  Element* memory_;
};

}  // namespace

template <class Element>
void bwd_twopass(const BackwardCall<Element>& call) {
  TwoPass<Element>(call).run();
}

template void bwd_twopass(const BackwardCall<float>&);
template void bwd_twopass(const BackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
