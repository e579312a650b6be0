// bwd-onepass: the outer loop is over K and V; each tile adds its part to every dQ.
//
//   delta = rowsum(dO o O)
//   for each K/V tile j:
//     dKj = 0, dVj = 0
//     for each group of queries i:  S = scale Q Kj^T;  P = exp(S - lse);  dP = dO Vj^T
//                                   dS = P o (dP - delta)
//                                   dVj += P^T dO;  dKj += scale dS^T Q;  dQi += scale dS Kj
//
// Shapes   attention/problem.hpp
// Tiles    kBackwardBlockKV keys; kGroup queries, one per lane (detail/backward_step.hpp)
// Parallel over batch, kv heads and K/V tiles. Free threads take the next tile. The tiles of one
//          head are taken in order, and add to a group's dQ in that order (detail/turn.hpp): like
//          the GPU's atomic adds, but with the same bits for any number of threads
// Traffic  Q, dO and dQ once for each K/V tile; K, V, dK, dV once
// Memory   detail/backward_queries.hpp, and dQ once more
// Against  bwd-twopass: five products instead of seven, but dQ is shared
// Source   Dao 2023, FlashAttention-2, algorithm 2; two-option algorithm, option 1
#include "attention_cpu/detail/build.hpp"
//
#include <omp.h>

#include "attention_cpu/detail/key_gradients.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

template <class Element>
class OnePass {
 public:
  explicit OnePass(const BackwardCall<Element>& call)
      : call_(call),
        queries_(call),
        num_kv_tiles_((call.seqlen_k + kBackwardBlockKV - 1) / kBackwardBlockKV),
        group_size_(call.head_dim * kGroup<Element>) {
    Workspace& workspace = *call.workspace;
    const std::int64_t num_groups = call.batch * call.num_heads * queries_.num_groups();
    dQ_ = workspace.allocate<Element>(num_groups * group_size_);
    added_ = workspace.allocate<std::int64_t>(num_groups);
    memory_ = workspace.allocate<Element>(call.num_threads * per_thread());
  }

  void run() {
    call_.progress->begin(call_.batch * call_.num_kv_heads * num_kv_tiles_);
    std::int64_t next = 0;
#pragma omp parallel num_threads(call_.num_threads)
    {
      queries_.load();
      each_group([&](std::int64_t b, std::int64_t h, std::int64_t g) { clear(b, h, g); });
      take_tiles(next);
#pragma omp barrier
      each_group([&](std::int64_t b, std::int64_t h, std::int64_t g) {
        backward::write_rows(call_, b, h, g, dQ_ + index_of(b, h, g) * group_size_);
      });
    }
  }

 private:
  std::int64_t per_thread() const { return KeyGradients<Element>::elements(call_.head_dim); }
  std::int64_t index_of(std::int64_t b, std::int64_t h, std::int64_t g) const {
    return (b * call_.num_heads + h) * queries_.num_groups() + g;
  }

  template <class Do>
  void each_group(const Do& action) const {
#pragma omp for collapse(3) schedule(static)
    for (std::int64_t b = 0; b < call_.batch; ++b) {
      for (std::int64_t h = 0; h < call_.num_heads; ++h) {
        for (std::int64_t g = 0; g < queries_.num_groups(); ++g) action(b, h, g);
      }
    }
  }

  /// The first tile that the group sees is the first to add.
  void clear(std::int64_t b, std::int64_t h, std::int64_t g) const {
    const std::int64_t index = index_of(b, h, g);
    for (std::int64_t k = 0; k < group_size_; ++k) dQ_[index * group_size_ + k] = 0;
    added_[index] = queries_.group(b, h, g).seen_by_any.first / kBackwardBlockKV;
  }

  /// Takes the first tile of every head, then the second: two threads rarely need one dQ at once.
  /// (An OpenMP loop need not start its iterations in order, which Turn requires.)
  void take_tiles(std::int64_t& next) const {
    const std::int64_t num_heads = call_.batch * call_.num_kv_heads;
    KeyGradients<Element> gradients(call_, queries_, memory_ + omp_get_thread_num() * per_thread());
    while (!call_.progress->cancelled()) {
      const std::int64_t taken = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
      if (taken >= num_heads * num_kv_tiles_) return;
      const std::int64_t head = taken % num_heads, tile = taken / num_heads,
                         b = head / call_.num_kv_heads;
      gradients.run(
          b, head % call_.num_kv_heads, tile * kBackwardBlockKV,
          [&](BackwardTile<Element>& to, QueryGroup<Element>&, std::int64_t h, std::int64_t g) {
            to.dQ = dQ_ + index_of(b, h, g) * group_size_;
            to.turn = {added_ + index_of(b, h, g), tile, call_.progress};
          });
      call_.progress->finished();
    }
  }

  const BackwardCall<Element>& call_;
  BackwardQueries<Element> queries_;
  const std::int64_t num_kv_tiles_, group_size_;
  Element *dQ_, *memory_;
  std::int64_t* added_;
};

}  // namespace

template <class Element>
void bwd_onepass(const BackwardCall<Element>& call) {
  OnePass<Element>(call).run();
}

template void bwd_onepass(const BackwardCall<float>&);
template void bwd_onepass(const BackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
