#include <algorithm>

#include "optimal/detail/node_table.hpp"
#include "optimal/detail/search.hpp"

namespace flashlab::optimal::detail {
namespace {

struct Promise {
  std::int64_t cost_at_least;
  int terms_left;
  NodeTable::Id id;
};

class Beam {
 public:
  explicit Beam(const SearchSpace& space) : space_(space), states_(space.states) {}

  std::optional<Path> run() {
    std::vector<NodeTable::Id> layer{nodes_.insert(states_.initial()).first};
    while (!layer.empty() && !space_.is_over()) {
      next_.clear();
      for (const NodeTable::Id id : layer) expand(id);
      const std::size_t width = std::min(next_.size(), space_.limits.beam_width);
      const auto end = next_.begin() + static_cast<std::ptrdiff_t>(width);
      std::partial_sort(next_.begin(), end, next_.end(), [](const Promise& a, const Promise& b) {
        if (a.cost_at_least != b.cost_at_least) return a.cost_at_least < b.cost_at_least;
        return a.terms_left != b.terms_left ? a.terms_left < b.terms_left : a.id < b.id;
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
    moves_.clear();
    states_.moves(state, moves_);
    for (const Move& move : moves_) {
      const State applied = states_.apply(state, move);
      if (states_.is_dead_end(applied)) continue;
      const State next = space_.symmetry.canonical(applied);
      const auto cost = static_cast<std::uint32_t>(so_far + states_.cost(move));
      const std::int64_t at_least = cost + states_.bound(next);
      if (at_least >= best_.cost) continue;
      const auto [next_id, is_new] = nodes_.insert(next);
      NodeTable::Node& node = nodes_[next_id];
      if (!is_new && node.cost <= cost) continue;
      node.cost = cost;
      node.parent = id;
      if (states_.is_goal(next)) {
        best_ = {path_to(next_id), cost};
      } else {
        next_.push_back({at_least, states_.terms_left(next), next_id});
      }
    }
  }

  std::vector<State> path_to(NodeTable::Id id) const {
    std::vector<State> result;
    for (; id != NodeTable::kNone; id = nodes_[id].parent) result.push_back(nodes_[id].state);
    std::reverse(result.begin(), result.end());
    return result;
  }

  const SearchSpace& space_;
  const ProductStates& states_;
  NodeTable nodes_;
  std::vector<Promise> next_;
  std::vector<Move> moves_;
  Path best_;
};

}  // namespace

std::optional<Path> beam_search(const SearchSpace& space) { return Beam(space).run(); }

}  // namespace flashlab::optimal::detail
