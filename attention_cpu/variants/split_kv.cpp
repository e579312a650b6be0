// split-kv forward: K and V are split among workers, whose states (m, l, O) are merged.
//
//   for each split s, in parallel:  m_s, l_s, O_s = flash2's loop over the K/V tiles of s
//   m = max m_s;   l = sum l_s exp(m_s - m);   O = sum O_s exp(m_s - m) / l;   lse = m + log l
//
// Shapes   attention/problem.hpp
// Tiles    a group of kGroup lanes contains queries of every head that reads the same K and V: one
//          query of 8 grouped heads fills 8 lanes and reads K and V once; a group of at most
//          kFewQueries processes its queries one by one (detail/single_query.hpp)
// Parallel over batch, kv heads, groups and splits: one query of one head uses all cores
// Traffic  K and V once for each group; the splits' states are written and read once
// Memory   (head_dim + 2) numbers for each lane and split
// Against  flash2: work for every core even with few queries; the cost is the merge
// Source   Dao et al. 2023, Flash-Decoding; toy-model notes, merging tiles in any order and
//          with any bracketing
#include "attention_cpu/detail/build.hpp"
//
#include <omp.h>

#include "attention_cpu/detail/single_query.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

/// Fewer keys than this are too few for a split.
constexpr std::int64_t kFewestKeys = 2 * kForwardBlockKV;

template <class Element>
class SplitKv {
 public:
  explicit SplitKv(const ForwardCall<Element>& call)
      : call_(call),
        rows_(call.num_heads / call.num_kv_heads * call.seqlen_q),
        num_groups_((rows_ + kGroup<Element> - 1) / kGroup<Element>),
        num_tiles_(call.batch * call.num_kv_heads * num_groups_),
        num_splits_(choose_splits()),
        state_size_(ForwardGroup<Element>::elements(call.head_dim)) {
    Workspace& workspace = *call.workspace;
    states_ = workspace.allocate<Element>(num_tiles_ * num_splits_ * state_size_);
    shared_ = workspace.allocate<Element>(call.num_threads * shared_size());
  }

  void run() {
    call_.progress->begin(num_tiles_ * num_splits_);
#pragma omp parallel num_threads(call_.num_threads)
    {
#pragma omp for collapse(2) schedule(dynamic)
      for (std::int64_t tile = 0; tile < num_tiles_; ++tile) {
        for (std::int64_t split = 0; split < num_splits_; ++split) {
          if (call_.progress->cancelled()) continue;
          attend_to_split(tile, split);
          call_.progress->finished();
        }
      }
#pragma omp for schedule(static)
      for (std::int64_t tile = 0; tile < num_tiles_; ++tile) merge(tile);
    }
  }

 private:
  /// A query of one of the heads that share K and V. Lanes enumerate queries first, then heads.
  struct Row {
    std::int64_t b, kv_head, h, i;
  };

  static std::int64_t sooner(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t later(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

  /// Size of the memory that the groups of one thread share.
  std::int64_t shared_size() const {
    const std::int64_t lanes = ForwardGroup<Element>::shared_elements(),
                       one_by_one = single_query::shared_elements(call_.head_dim);
    return lanes > one_by_one ? lanes : one_by_one;
  }

  /// Two tasks per thread, if there are enough keys.
  std::int64_t choose_splits() const {
    if (num_tiles_ == 0) return 1;
    const std::int64_t wanted = (2 * call_.num_threads + num_tiles_ - 1) / num_tiles_;
    const std::int64_t most = call_.seqlen_k / kFewestKeys;
    return wanted < most ? wanted : most > 1 ? most : 1;
  }

  ForwardGroup<Element> state(std::int64_t tile, std::int64_t split) const {
    return {states_ + (tile * num_splits_ + split) * state_size_,
            shared_ + omp_get_thread_num() * shared_size(), call_.head_dim};
  }

  bool has_row(std::int64_t tile, int lane) const {
    return tile % num_groups_ * kGroup<Element> + lane < rows_;
  }

  Row row(std::int64_t tile, int lane) const {
    const std::int64_t head = tile / num_groups_, b = head / call_.num_kv_heads,
                       kv_head = head % call_.num_kv_heads,
                       r = tile % num_groups_ * kGroup<Element> + lane;
    return {b, kv_head, kv_head * (call_.num_heads / call_.num_kv_heads) + r / call_.seqlen_q,
            r % call_.seqlen_q};
  }

  Lanes load_queries(const ForwardGroup<Element>& group, std::int64_t tile) const {
    Lanes lanes;
    forward::clear(group, call_.head_dim);
    for (; lanes.count < kGroup<Element> && has_row(tile, lanes.count); ++lanes.count) {
      const Row at = row(tile, lanes.count);
      const KeyRange visible = call_.visible_keys(at.b, at.i);
      if (lanes.count == 0) lanes.seen_by_all = lanes.seen_by_any = visible;
      lanes.seen_by_all = {later(lanes.seen_by_all.first, visible.first),
                           sooner(lanes.seen_by_all.end, visible.end)};
      lanes.seen_by_any = {sooner(lanes.seen_by_any.first, visible.first),
                           later(lanes.seen_by_any.end, visible.end)};
      group.visible[lanes.count] = visible;
      const Element* const q = call_.Q.head(at.b, at.h) + at.i * call_.Q.row_stride;
      forward::set_queries(group, lanes.count, {q, 0}, 1, call_.head_dim, call_.softmax_scale);
    }
    return lanes;
  }

  void attend_to_split(std::int64_t tile, std::int64_t split) {
    const ForwardGroup<Element> group = state(tile, split);
    const Lanes lanes = load_queries(group, tile);
    const Row first = row(tile, 0);
    const Element* const K = call_.K.head(first.b, first.kv_head);
    const Element* const V = call_.V.head(first.b, first.kv_head);
    const KeyRange seen = lanes.seen_by_any;
    const std::int64_t num_kv_tiles = (seen.count() + kForwardBlockKV - 1) / kForwardBlockKV;
    const std::int64_t begin = seen.first + num_kv_tiles * split / num_splits_ * kForwardBlockKV;
    const std::int64_t tiles_end =
        seen.first + num_kv_tiles * (split + 1) / num_splits_ * kForwardBlockKV;
    const std::int64_t end = sooner(tiles_end, seen.end);
    for (std::int64_t j = begin; j < end; j += kForwardBlockKV) {
      const KeyTile<Element> keys = {{K + j * call_.K.row_stride, call_.K.row_stride},
                                     {V + j * call_.V.row_stride, call_.V.row_stride},
                                     j,
                                     end - j < kForwardBlockKV ? end - j : kForwardBlockKV};
      attend(group, keys, lanes);
    }
  }

  void attend(const ForwardGroup<Element>& group, const KeyTile<Element>& keys,
              const Lanes& lanes) {
    if (lanes.count > kFewQueries || call_.head_dim % kLanes<Element> != 0) {
      return forward::attend_lanes(group, keys, call_.head_dim, lanes);
    }
    for (int lane = 0; lane < lanes.count; ++lane) {
      single_query::attend(group, lane, keys, call_.head_dim);
    }
  }

  /// Merges a group's splits into the caller's O and lse.
  void merge(std::int64_t tile) const {
    const ForwardGroup<Element> merged = state(tile, 0);
    for (std::int64_t split = 1; split < num_splits_; ++split) {
      forward::merge(merged, state(tile, split), call_.head_dim);
    }
    forward::normalise(merged, call_.head_dim);
    for (int lane = 0; lane < kGroup<Element> && has_row(tile, lane); ++lane) {
      const Row at = row(tile, lane);
      Element* const o = call_.O.head(at.b, at.h) + at.i * call_.O.row_stride;
      forward::write_outputs(merged, lane, 1, call_.head_dim, {o, 0});
      call_.lse.at(at.b, at.h, at.i) = forward::logsumexp(merged, lane);
    }
  }

  const ForwardCall<Element>& call_;
  const std::int64_t rows_, num_groups_, num_tiles_, num_splits_, state_size_;
  Element* states_;
  Element* shared_;
};

}  // namespace

template <class Element>
void split_kv(const ForwardCall<Element>& call) {
  SplitKv<Element>(call).run();
}

template void split_kv(const ForwardCall<float>&);
template void split_kv(const ForwardCall<double>&);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
