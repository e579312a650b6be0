#include <algorithm>
#include <map>

#include "optimal/detail/node_table.hpp"
#include "optimal/detail/search.hpp"

namespace flashlab::optimal::detail {
namespace {

/// Looking at the clock takes longer than a state.
constexpr std::uint64_t kStatesBetweenChecks = 1024;

class BestFirst {
 public:
  BestFirst(const SearchSpace& space, std::int64_t upper)
      : space_(space), states_(space.states), upper_(upper) {}

  Proof run() {
    const NodeTable::Id first = nodes_.insert(states_.initial()).first;
    push(first, states_.bound(states_.initial()));
    bool is_finished = true;
    for (std::uint64_t count = 1; !open_.empty() && open_.begin()->first < upper_; ++count) {
      if (count % kStatesBetweenChecks == 0 && !may_go_on()) {
        is_finished = false;
        break;
      }
      expand_next();
    }
    Proof proof{.path = {}, .lower = upper_, .is_finished = is_finished};
    if (goal_ != NodeTable::kNone) proof.path = Path{path_to(goal_), upper_};
    if (!is_finished) proof.lower = lower();
    proof.states = nodes_.size();
    proof.bytes = bytes();
    return proof;
  }

 private:
  std::int64_t lower() const {
    return open_.empty() ? upper_ : std::min(open_.begin()->first, upper_);
  }

  void push(NodeTable::Id id, std::int64_t at_least) {
    open_[at_least].push_back(id);
    ++num_open_;
  }

  /// The deepest of the states that promise most: a bucket is a stack.
  void expand_next() {
    const auto bucket = open_.begin();
    const std::int64_t at_least = bucket->first;
    const NodeTable::Id id = bucket->second.back();
    bucket->second.pop_back();
    if (bucket->second.empty()) open_.erase(bucket);
    --num_open_;
    const NodeTable::Node node = nodes_[id];
    if (node.cost + states_.bound(node.state) != at_least) return;  // reached more cheaply since
    moves_.clear();
    states_.moves(node.state, moves_);
    for (const Move& move : moves_) reach(id, node, move);
  }

  void reach(NodeTable::Id from, const NodeTable::Node& node, const Move& move) {
    const State next = states_.apply(node.state, move);
    const auto cost = static_cast<std::uint32_t>(node.cost + states_.cost(move));
    const std::int64_t at_least = cost + states_.bound(next);
    if (at_least >= upper_ || states_.is_dead_end(next)) return;
    const auto [id, is_new] = nodes_.insert(space_.symmetry.canonical(next));
    NodeTable::Node& reached = nodes_[id];
    if (!is_new && reached.cost <= cost) return;
    reached.cost = cost;
    reached.parent = from;
    if (states_.is_goal(next)) {
      upper_ = cost;
      goal_ = id;
    } else {
      push(id, at_least);
    }
  }

  std::size_t bytes() const { return nodes_.bytes() + num_open_ * 2 * sizeof(NodeTable::Id); }

  bool may_go_on() {
    const double seconds = space_.seconds();
    if (space_.limits.progress && seconds - reported_ >= space_.limits.progress_every_s) {
      const auto states = static_cast<double>(nodes_.size() - reported_states_);
      space_.limits.progress(
          {nodes_.size(), seconds, states / (seconds - reported_), states_.to_cycles(lower()),
           upper_ == kUnknownCost ? std::optional<std::int64_t>() : states_.to_cycles(upper_),
           bytes()});
      reported_ = seconds;
      reported_states_ = nodes_.size();
    }
    return !space_.is_over() && bytes() + nodes_.bytes_to_grow() <= space_.limits.max_bytes;
  }

  std::vector<State> path_to(NodeTable::Id id) const {
    std::vector<State> result;
    for (; id != NodeTable::kNone; id = nodes_[id].parent) result.push_back(nodes_[id].state);
    std::reverse(result.begin(), result.end());
    return result;
  }

  const SearchSpace& space_;
  const ProductStates& states_;
  std::int64_t upper_;  // only cheaper programs are looked for
  NodeTable nodes_;
  NodeTable::Id goal_ = NodeTable::kNone;
  std::map<std::int64_t, std::vector<NodeTable::Id>> open_;  // by the cost at least
  std::size_t num_open_ = 0;
  std::vector<Move> moves_;
  double reported_ = 0;
  std::size_t reported_states_ = 0;
};

}  // namespace

Proof best_first_search(const SearchSpace& space, std::int64_t upper) {
  return BestFirst(space, upper).run();
}

}  // namespace flashlab::optimal::detail
