#include <algorithm>

#include "optimal/search/node_table.hpp"
#include "optimal/search/search.hpp"

namespace flashlab::optimal::detail {
namespace {

struct Promise {
  std::int64_t cost_at_least = 0;
  int work_left = 0;
  NodeId id = kNoNode;
};

/// The second bound is computed for this many times `width` states: those with the
/// best first bound.
constexpr std::size_t kLookedAt = 10;

template <class State>
class Beam {
 public:
  Beam(SearchSpace<State>& space, const SearchLimits& limits, std::size_t width, bool looks_twice,
       const Path<State>& known)
      : space_(space), limits_(limits), width_(width), looks_twice_(looks_twice), best_(known) {}

  /// Returns the best path known at the end.
  Path<State> run() {
    for (const Start<State>& start : space_.starts()) {
      reach(kNoNode, start.cost, {start.state, 0, space_.bound(start.state)});
    }
    while (!next_.empty() && !is_over()) {
      const std::vector<NodeId> layer = most_promising();
      next_.clear();
      for (const NodeId id : layer) {
        if (is_over()) break;
        expand(id);
      }
    }
    return best_;
  }

 private:
  /// Most of the time limit is left to the proof.
  bool is_over() const {
    return limits_.is_over() || limits_.seconds() > limits_.asked.max_seconds / 4;
  }

  std::vector<NodeId> most_promising() {
    if (looks_twice_) {
      keep_best(width_ * kLookedAt);
      for (Promise& promise : next_) {
        const auto& node = nodes_[promise.id];
        const std::int64_t bound = space_.second_bound(node.state, kDeadEnd);
        promise.cost_at_least = std::max(promise.cost_at_least, node.cost + bound);
      }
      std::erase_if(next_, [&](const Promise& it) { return it.cost_at_least >= best_.cost; });
    }
    keep_best(width_);
    std::vector<NodeId> result;
    for (const Promise& promise : next_) result.push_back(promise.id);
    return result;
  }

  void keep_best(std::size_t count) {
    count = std::min(next_.size(), count);
    const auto end = next_.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(next_.begin(), end, next_.end(), [](const Promise& a, const Promise& b) {
      if (a.cost_at_least != b.cost_at_least) return a.cost_at_least < b.cost_at_least;
      return a.work_left != b.work_left ? a.work_left < b.work_left : a.id < b.id;
    });
    next_.resize(count);
  }

  void expand(NodeId id) {
    const State state = nodes_[id].state;
    const std::uint32_t so_far = nodes_[id].cost;
    space_.successors(state, best_.cost == kUnknownCost ? kUnknownCost : best_.cost - so_far,
                      successors_);
    for (const auto& successor : successors_) reach(id, so_far + successor.cost, successor);
  }

  void reach(NodeId from, std::uint32_t cost, const Successor<State>& successor) {
    const auto [id, is_new] = nodes_.insert(successor.state);
    auto& node = nodes_[id];
    if (!is_new && node.cost <= cost) return;
    const std::int64_t bound =
        successor.bound == kBoundLater ? space_.bound(successor.state) : successor.bound;
    node.cost = cost & 0x3FFFFFFFU;
    node.parent = from;
    if (space_.is_goal(successor.state)) {
      if (cost < best_.cost) best_ = {nodes_.path_to(id), cost};
    } else if (bound < kDeadEnd && cost + bound < best_.cost) {
      next_.push_back({cost + bound, space_.work_left(successor.state), id});
    }
  }

  SearchSpace<State>& space_;
  const SearchLimits& limits_;
  const std::size_t width_;
  const bool looks_twice_;
  ShardedNodes<State> nodes_;
  std::vector<Promise> next_;
  std::vector<Successor<State>> successors_;
  Path<State> best_;
};

}  // namespace

template <class State>
std::optional<Path<State>> beam_search(SearchSpace<State>& space, const SearchLimits& limits) {
  constexpr std::size_t kWider = 5, kNarrowest = 16;
  const std::size_t widest = limits.asked.beam_width;
  const std::vector<Start<State>> starts = space.starts();
  const bool has_second_bound = std::any_of(starts.begin(), starts.end(), [&](const auto& start) {
    return space.second_bound(start.state, kDeadEnd) > 0;
  });
  Path<State> best;
  if (!has_second_bound) {
    best = Beam<State>(space, limits, widest, false, best).run();
  } else {  // a narrow beam with the second bound first: its program prunes wider beams
    std::size_t width = widest;
    while (width / kWider >= kNarrowest) width /= kWider;
    best = Beam<State>(space, limits, width, true, best).run();
    while (width < widest) {
      width = std::min(width * kWider, widest);
      best = Beam<State>(space, limits, width, false, best).run();
    }
  }
  if (best.cost == kUnknownCost) return std::nullopt;
  return best;
}

template std::optional<Path<State>> beam_search(SearchSpace<State>&, const SearchLimits&);
template std::optional<Path<WideState<2>>> beam_search(SearchSpace<WideState<2>>&,
                                                       const SearchLimits&);
template std::optional<Path<WideState<4>>> beam_search(SearchSpace<WideState<4>>&,
                                                       const SearchLimits&);

}  // namespace flashlab::optimal::detail
