// bwd-onepass: outer loop over K and V; each tile adds its part to every dQ.
//
//   delta = rowsum(dO o O)
//   for each K/V tile j:
//     dKj = 0, dVj = 0
//     for each group of queries i:  S = scale Q Kj^T;  P = exp(S - lse);  dP = dO Vj^T
//                                   dS = P o (dP - delta)
//                                   dVj += P^T dO;  dKj += scale dS^T Q;  dQi += scale dS Kj
//
// Shapes   attention/problem.hpp
// Tiles    kBackwardBlockKV keys; kGroup queries, one a lane (detail/backward_step.hpp)
// Parallel over batch, kv heads and K/V tiles, each thread a contiguous part with as many visible
// pairs
//          as the others'. A head whose tiles fall to several threads gets a dQ from each of them,
//          added in the order of the threads: what the GPU does by atomic adds, with the same bits
//          every time
// Traffic  Q, dO and dQ once for each K/V tile; K, V, dK, dV once
// Memory   detail/backward_queries.hpp, and dQ once for each head plus once for each thread
// Against  bwd-twopass: five products instead of seven, for the sums of dQ
// Source   Dao 2023, FlashAttention-2, algorithm 2; S2, option 1
#include "attention_cpu/detail/build.hpp"
//
#include <omp.h>

#include "attention_cpu/detail/key_gradients.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

/// Who computes which K/V tile, and where each thread's part of dQ is.
template <class Element>
class Partition {
 public:
  explicit Partition(const BackwardCall<Element>& call)
      : tiles_per_head_((call.seqlen_k + kBackwardBlockKV - 1) / kBackwardBlockKV),
        num_heads_(call.batch * call.num_kv_heads),
        num_threads_(call.num_threads) {
    Workspace& workspace = *call.workspace;
    first_tile_ = workspace.allocate<std::int64_t>(num_threads_ + 1);
    first_slot_ = workspace.allocate<std::int64_t>(num_heads_ + 1);
    first_thread_ = workspace.allocate<std::int64_t>(num_heads_ + 1);
    cut(call);
    number_slots();
  }

  std::int64_t tiles_per_head() const { return tiles_per_head_; }
  std::int64_t num_tiles() const { return num_heads_ * tiles_per_head_; }
  std::int64_t num_slots() const { return first_slot_[num_heads_]; }
  std::int64_t begin(int thread) const { return first_tile_[thread]; }
  std::int64_t end(int thread) const { return first_tile_[thread + 1]; }

  /// Where `thread` adds its part of the dQ of the heads that read kv head `head` (counted over the
  /// batch too).
  std::int64_t slot(std::int64_t head, int thread) const {
    std::int64_t result = first_slot_[head];
    for (std::int64_t t = first_thread_[head]; t < thread; ++t) result += touches(head, t) ? 1 : 0;
    return result;
  }
  std::int64_t first_slot(std::int64_t head) const { return first_slot_[head]; }
  std::int64_t end_slot(std::int64_t head) const { return first_slot_[head + 1]; }

 private:
  bool touches(std::int64_t head, std::int64_t thread) const {
    const std::int64_t first = head * tiles_per_head_, last = first + tiles_per_head_;
    return first_tile_[thread] < last && first_tile_[thread + 1] > first &&
           first_tile_[thread] < first_tile_[thread + 1];
  }

  static std::int64_t work(const BackwardCall<Element>& call, std::int64_t b, std::int64_t tile) {
    const std::int64_t first_key = tile * kBackwardBlockKV;
    return call.seqlen_q - call.first_query(b, first_key) + 1;  // dK and dV are written in any case
  }

  void cut(const BackwardCall<Element>& call) {
    std::int64_t total = 0;
    for (std::int64_t b = 0; b < call.batch; ++b) {
      for (std::int64_t t = 0; t < tiles_per_head_; ++t) total += work(call, b, t);
    }
    total *= call.num_kv_heads;
    std::int64_t tile = 0, done = 0;
    int thread = 0;
    first_tile_[0] = 0;
    for (std::int64_t head = 0; head < num_heads_; ++head) {
      for (std::int64_t t = 0; t < tiles_per_head_; ++t, ++tile) {
        // The cut nearest to an equal share.
        const std::int64_t more = work(call, head / call.num_kv_heads, t);
        while (thread + 1 < num_threads_ &&
               2 * done + more > 2 * (total * (thread + 1) / num_threads_)) {
          first_tile_[++thread] = tile;
        }
        done += more;
      }
    }
    while (thread < num_threads_) first_tile_[++thread] = tile;
  }

  void number_slots() {
    std::int64_t slots = 0;
    for (std::int64_t head = 0; head < num_heads_; ++head) {
      first_slot_[head] = slots;
      first_thread_[head] = num_threads_;
      for (std::int64_t t = num_threads_; t-- > 0;) {
        if (!touches(head, t)) continue;
        ++slots;
        first_thread_[head] = t;
      }
    }
    first_slot_[num_heads_] = slots;
  }

  const std::int64_t tiles_per_head_, num_heads_;
  const int num_threads_;
  std::int64_t *first_tile_, *first_slot_, *first_thread_;
};

template <class Element>
class OnePass {
 public:
  explicit OnePass(const BackwardCall<Element>& call)
      : call_(call),
        queries_(call),
        partition_(call),
        per_kv_head_(call.num_heads / call.num_kv_heads),
        group_size_(call.head_dim * kGroup<Element>),
        slot_size_(per_kv_head_ * queries_.num_groups() * group_size_) {
    Workspace& workspace = *call.workspace;
    dQ_ = workspace.allocate<Element>(partition_.num_slots() * slot_size_);
    memory_ = workspace.allocate<Element>(call.num_threads * per_thread());
  }

  void run() {
    call_.progress->begin(partition_.num_tiles());
#pragma omp parallel num_threads(call_.num_threads)
    {
      queries_.load();
      // A runtime may lend fewer threads than were asked for; the parts stay those of the asked.
#pragma omp for schedule(static, 1)
      for (int part = 0; part < call_.num_threads; ++part) run_part(part);
#pragma omp for collapse(3) schedule(static)
      for (std::int64_t b = 0; b < call_.batch; ++b) {
        for (std::int64_t h = 0; h < call_.num_heads; ++h) {
          for (std::int64_t g = 0; g < queries_.num_groups(); ++g) write_dQ(b, h, g);
        }
      }
    }
  }

 private:
  std::int64_t per_thread() const { return KeyGradients<Element>::elements(call_.head_dim); }

  void run_part(int part) {
    KeyGradients<Element> gradients(call_, queries_, memory_ + part * per_thread());
    Element* slot = nullptr;
    for (std::int64_t tile = partition_.begin(part); tile < partition_.end(part); ++tile) {
      if (call_.progress->cancelled()) return;
      const std::int64_t head = tile / partition_.tiles_per_head();
      const std::int64_t b = head / call_.num_kv_heads, kv_head = head % call_.num_kv_heads;
      const std::int64_t first_key = tile % partition_.tiles_per_head() * kBackwardBlockKV;
      if (slot == nullptr || first_key == 0) {
        slot = dQ_ + partition_.slot(head, part) * slot_size_;
        for (std::int64_t k = 0; k < slot_size_; ++k) slot[k] = 0;
      }
      gradients.run(b, kv_head, first_key, [&](std::int64_t h, std::int64_t g) {
        return slot + (h % per_kv_head_ * queries_.num_groups() + g) * group_size_;
      });
      call_.progress->finished();
    }
  }

  /// The threads' parts of a group's dQ, added up into the first, scaled and laid out in rows.
  void write_dQ(std::int64_t b, std::int64_t h, std::int64_t g) const {
    const std::int64_t head = b * call_.num_kv_heads + call_.kv_head(h);
    const std::int64_t offset = (h % per_kv_head_ * queries_.num_groups() + g) * group_size_;
    const std::int64_t first_slot = partition_.first_slot(head);
    Element* const sum = dQ_ + first_slot * slot_size_ + offset;
    for (std::int64_t slot = first_slot + 1; slot < partition_.end_slot(head); ++slot) {
      const Element* const part = dQ_ + slot * slot_size_ + offset;
      for (std::int64_t k = 0; k < group_size_; ++k) sum[k] += part[k];
    }
    backward::write_rows(call_, b, h, g, first_slot < partition_.end_slot(head) ? sum : nullptr);
  }

  const BackwardCall<Element>& call_;
  BackwardQueries<Element> queries_;
  const Partition<Element> partition_;
  const std::int64_t per_kv_head_, group_size_, slot_size_;
  Element *dQ_, *memory_;
};

}  // namespace

template <class Element>
void bwd_onepass(const BackwardCall<Element>& call) {
  OnePass<Element>(call).run();
}

template void bwd_onepass(const BackwardCall<float>&);
template void bwd_onepass(const BackwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
