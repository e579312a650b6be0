#include <algorithm>
#include <map>

#include "optimal/detail/node_table.hpp"
#include "optimal/detail/search.hpp"

namespace flashlab::optimal::detail {
namespace {

/// Looking at the clock takes longer than a state.
constexpr std::uint64_t kStatesBetweenChecks = 1024;
/// Few states have more successors, and most of those are known already.
constexpr std::size_t kNewStatesBetweenChecks = 128 * kStatesBetweenChecks;

class BestFirst {
 public:
  BestFirst(SearchSpace& space, const SearchLimits& limits, std::int64_t upper)
      : space_(space), limits_(limits), upper_(upper) {}

  Proof run() {
    const NodeTable::Id first = nodes_.insert(space_.initial()).first;
    push(first, space_.bound(space_.initial()));
    bool is_finished = true;
    for (std::uint64_t count = 1; !open_.empty() && open_.begin()->first < upper_; ++count) {
      if (count % kStatesBetweenChecks == 0 && !may_go_on()) {
        is_finished = false;
        break;
      }
      expand_next();
    }
    Proof proof{.path = {}, .lower = upper_, .is_finished = is_finished};
    if (goal_ != NodeTable::kNone) proof.path = Path{nodes_.path_to(goal_), upper_};
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
    if (node.cost + space_.bound(node.state) != at_least) return;  // reached more cheaply since
    space_.successors(node.state, upper_ == kUnknownCost ? upper_ : upper_ - node.cost,
                      successors_);
    for (const Successor& successor : successors_) reach(id, node.cost + successor.cost, successor);
  }

  void reach(NodeTable::Id from, std::uint32_t cost, const Successor& successor) {
    if (cost + successor.bound >= upper_) return;  // a goal among its siblings was cheaper
    const auto [id, is_new] = nodes_.insert(successor.state);
    NodeTable::Node& reached = nodes_[id];
    if (!is_new && reached.cost <= cost) return;
    reached.cost = cost;
    reached.parent = from;
    if (space_.is_goal(successor.state)) {
      upper_ = cost;
      goal_ = id;
    } else {
      push(id, cost + successor.bound);
    }
  }

  std::size_t bytes() const { return nodes_.bytes() + num_open_ * 2 * sizeof(NodeTable::Id); }

  bool may_go_on() {
    const double seconds = limits_.seconds();
    if (limits_.asked.progress && seconds - reported_ >= limits_.asked.progress_every_s) {
      const auto states = static_cast<double>(nodes_.size() - reported_states_);
      limits_.asked.progress(
          {nodes_.size(), seconds, states / (seconds - reported_), space_.to_cycles(lower()),
           upper_ == kUnknownCost ? std::optional<std::int64_t>() : space_.to_cycles(upper_),
           bytes()});
      reported_ = seconds;
      reported_states_ = nodes_.size();
    }
    return !limits_.is_over() &&
           bytes() + nodes_.bytes_to_grow(kNewStatesBetweenChecks) <= limits_.asked.max_bytes;
  }

  SearchSpace& space_;
  const SearchLimits& limits_;
  std::int64_t upper_;  // only cheaper programs are looked for
  NodeTable nodes_;
  NodeTable::Id goal_ = NodeTable::kNone;
  std::map<std::int64_t, std::vector<NodeTable::Id>> open_;  // by the cost at least
  std::size_t num_open_ = 0;
  std::vector<Successor> successors_;
  double reported_ = 0;
  std::size_t reported_states_ = 0;
};

}  // namespace

Proof best_first_search(SearchSpace& space, const SearchLimits& limits, std::int64_t upper) {
  return BestFirst(space, limits, upper).run();
}

Searched search(SearchSpace& space, const SearchLimits& limits) {
  Searched result;
  if (limits.asked.beam_width > 0) result.path = beam_search(space, limits);
  result.proof = best_first_search(space, limits, result.path ? result.path->cost : kUnknownCost);
  if (result.proof.path) result.path = result.proof.path;
  return result;
}

Answer answer_of(const SearchSpace& space, const Searched& searched) {
  Answer answer;
  answer.states = searched.proof.states;
  answer.bytes = searched.proof.bytes;
  if (searched.proof.is_finished) {
    answer.verdict = searched.path ? Verdict::kOptimal : Verdict::kInfeasible;
  }
  if (answer.verdict != Verdict::kInfeasible) {
    answer.lower_cycles = space.to_cycles(searched.proof.lower);
  }
  return answer;
}

}  // namespace flashlab::optimal::detail
