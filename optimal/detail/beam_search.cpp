#include <algorithm>

#include "optimal/detail/node_table.hpp"
#include "optimal/detail/search.hpp"

namespace flashlab::optimal::detail {
namespace {

struct Promise {
  std::int64_t cost_at_least;
  int work_left;
  NodeId id;
};

template <class State>
class Beam {
 public:
  Beam(SearchSpace<State>& space, const SearchLimits& limits) : space_(space), limits_(limits) {}

  std::optional<Path<State>> run() {
    for (const Start<State>& start : space_.starts()) {
      reach(kNoNode, start.cost, {start.state, 0, space_.bound(start.state)});
    }
    while (!next_.empty() && !limits_.is_over()) {
      const std::vector<NodeId> layer = most_promising();
      next_.clear();
      for (const NodeId id : layer) expand(id);
    }
    if (best_.cost == kUnknownCost) return std::nullopt;
    return best_;
  }

 private:
  std::vector<NodeId> most_promising() {
    const std::size_t width = std::min(next_.size(), limits_.asked.beam_width);
    const auto end = next_.begin() + static_cast<std::ptrdiff_t>(width);
    std::partial_sort(next_.begin(), end, next_.end(), [](const Promise& a, const Promise& b) {
      if (a.cost_at_least != b.cost_at_least) return a.cost_at_least < b.cost_at_least;
      return a.work_left != b.work_left ? a.work_left < b.work_left : a.id < b.id;
    });
    std::vector<NodeId> result;
    for (auto promise = next_.begin(); promise != end; ++promise) result.push_back(promise->id);
    return result;
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
  ShardedNodes<State> nodes_;
  std::vector<Promise> next_;
  std::vector<Successor<State>> successors_;
  Path<State> best_;
};

}  // namespace

template <class State>
std::optional<Path<State>> beam_search(SearchSpace<State>& space, const SearchLimits& limits) {
  return Beam<State>(space, limits).run();
}

template std::optional<Path<State>> beam_search(SearchSpace<State>&, const SearchLimits&);
template std::optional<Path<WideState<2>>> beam_search(SearchSpace<WideState<2>>&,
                                                       const SearchLimits&);
template std::optional<Path<WideState<4>>> beam_search(SearchSpace<WideState<4>>&,
                                                       const SearchLimits&);

}  // namespace flashlab::optimal::detail
