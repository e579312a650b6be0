#include <algorithm>

#include "optimal/detail/node_table.hpp"
#include "optimal/detail/search.hpp"

namespace flashlab::optimal::detail {
namespace {

struct Promise {
  std::int64_t cost_at_least;
  int work_left;
  NodeTable::Id id;
};

class Beam {
 public:
  Beam(SearchSpace& space, const SearchLimits& limits) : space_(space), limits_(limits) {}

  std::optional<Path> run() {
    std::vector<NodeTable::Id> layer{nodes_.insert(space_.initial()).first};
    while (!layer.empty() && !limits_.is_over()) {
      next_.clear();
      for (const NodeTable::Id id : layer) expand(id);
      const std::size_t width = std::min(next_.size(), limits_.asked.beam_width);
      const auto end = next_.begin() + static_cast<std::ptrdiff_t>(width);
      std::partial_sort(next_.begin(), end, next_.end(), [](const Promise& a, const Promise& b) {
        if (a.cost_at_least != b.cost_at_least) return a.cost_at_least < b.cost_at_least;
        return a.work_left != b.work_left ? a.work_left < b.work_left : a.id < b.id;
      });
      layer.clear();
      for (auto promise = next_.begin(); promise != end; ++promise) layer.push_back(promise->id);
    }
    if (best_.cost == kUnknownCost) return std::nullopt;
    return best_;
  }

 private:
  void expand(NodeTable::Id id) {
    const State state = nodes_[id].state;
    const std::uint32_t so_far = nodes_[id].cost;
    space_.successors(state, best_.cost == kUnknownCost ? kUnknownCost : best_.cost - so_far,
                      successors_);
    for (const Successor& successor : successors_) {
      const std::uint32_t cost = so_far + successor.cost;
      const auto [next, is_new] = nodes_.insert(successor.state);
      NodeTable::Node& node = nodes_[next];
      if (!is_new && node.cost <= cost) continue;
      node.cost = cost;
      node.parent = id;
      if (space_.is_goal(successor.state)) {
        if (cost < best_.cost) best_ = {nodes_.path_to(next), cost};
      } else {
        next_.push_back({cost + successor.bound, space_.work_left(successor.state), next});
      }
    }
  }

  SearchSpace& space_;
  const SearchLimits& limits_;
  NodeTable nodes_;
  std::vector<Promise> next_;
  std::vector<Successor> successors_;
  Path best_;
};

}  // namespace

std::optional<Path> beam_search(SearchSpace& space, const SearchLimits& limits) {
  return Beam(space, limits).run();
}

}  // namespace flashlab::optimal::detail
