// A* in rounds: each round expands a number of the most promising states, then inserts their
// successors. A state's hash assigns it to a shard. Each shard has its own table and its own list
// of open states. Both halves of a round are divided among the threads by shard. The states that a
// round takes, and the order in which a shard inserts, are fixed. The answer and the number of
// states are therefore the same for every number of threads.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "optimal/search/node_table.hpp"
#include "optimal/search/search.hpp"
#include "optimal/search/workers.hpp"

namespace flashlab::optimal::detail {
namespace {

/// States that a round takes from each shard. All shards together take enough states to be worth
/// the threads' synchronisation, and few enough that little is expanded needlessly when a cheaper
/// program is found.
constexpr std::size_t kRoundOfShard = 64;
/// Rounds of fewer states than this run on one thread.
constexpr std::size_t kWorthSharing = kRoundOfShard * kShards / 4;
/// Room for the new states of a round. Few states have more than 128 successors, and
/// most are known.
constexpr std::size_t kNewStatesOfRound = 128 * kRoundOfShard * kShards;
/// After this many second bounds the search decides whether they are worth their time.
constexpr std::uint64_t kTrialOfSecondBound = 2048;

template <class State>
class BestFirst {
 public:
  BestFirst(SearchSpace<State>& space, const SearchLimits& limits,
            std::optional<Path<State>>& known)
      : space_(space), limits_(limits), known_(known), workers_(limits.asked.jobs) {}

  Proof<State> run() {
    const std::string& checkpoint = limits_.asked.checkpoint;
    if (CheckpointReader::is_there(checkpoint)) {
      restore();
    } else {
      if (!checkpoint.empty()) CheckpointWriter(checkpoint, limits_.fingerprint);  // fails early
      begin();
    }
    bool is_finished = true;
    while (lower() < upper_) {
      if (!may_go_on()) {
        is_finished = false;
        break;
      }
      expand_round();
    }
    Proof<State> proof{.path = {}, .lower = upper_, .is_finished = is_finished};
    if (goal_ != kNoNode) proof.path = Path<State>{nodes_.path_to(goal_), upper_};
    if (!is_finished) proof.lower = lower();
    if (!checkpoint.empty()) is_finished ? remove_checkpoint() : save();
    proof.states = nodes_.size();
    proof.bytes = bytes();
    return proof;
  }

 private:
  /// A successor that is on its way to its shard.
  struct Arrival {
    State state{};
    std::uint64_t hash = 0;
    std::uint32_t cost = 0;
    NodeId from = kNoNode;
    std::int64_t bound = kBoundLater;
    std::int64_t at_least = 0;  // lower bound on every program through this move
    bool is_goal = false;
  };
  struct Shard {
    std::map<std::int64_t, std::vector<NodeId>> open;  // by lower bound; the deepest last
    std::size_t num_open = 0;
    std::vector<NodeId> taken;                             // by this round
    std::array<std::vector<Arrival>, kShards> departures;  // by shard
    // Number of second bounds computed, and of states that they deferred.
    std::uint64_t num_refined = 0, num_deferred = 0;
    std::int64_t goal_cost = kUnknownCost;  // the cheapest goal of this round
    NodeId goal = kNoNode;
  };

  std::int64_t lower() const {
    std::int64_t result = upper_;
    for (const Shard& shard : shards_) {
      if (!shard.open.empty()) result = std::min(result, shard.open.begin()->first);
    }
    return result;
  }

  void begin() {
    if (known_) upper_ = known_->cost;
    for (const Start<State>& start : space_.starts()) {
      const std::int64_t bound =
          std::max(space_.bound(start.state), space_.second_bound(start.state, kDeadEnd));
      depart(shards_[0], {start.state, start.cost, bound}, {kNoNode, start.cost, 0}, space_);
    }
    for (unsigned number = 0; number < kShards; ++number) arrive(number, space_);
    take_goal();
  }

  void expand_round() {
    std::size_t count = 0;
    const std::int64_t at_least = lower();
    for (Shard& shard : shards_) count += take(shard, at_least);
    share(count, [&](std::size_t number, unsigned worker) {
      SearchSpace<State>& space = space_of(worker);
      for (const NodeId id : shards_[number].taken) {
        Shard& shard = shards_[number];
        if (!deferred(shard, id, at_least, space)) expand(shard, id, at_least, space);
      }
    });
    share(count, [&](std::size_t number, unsigned worker) {
      arrive(static_cast<unsigned>(number), space_of(worker));
    });
    take_goal();
    judge_second_bound();
  }

  /// Drops the second bound, which costs more than expanding a state, unless it defers many states.
  void judge_second_bound() {
    std::uint64_t refined = 0, deferred = 0;
    for (const Shard& shard : shards_) {
      refined += shard.num_refined;
      deferred += shard.num_deferred;
    }
    if (refined >= kTrialOfSecondBound && 8 * deferred < refined) refines_ = false;
  }

  void share(std::size_t count, const Workers::Task& task) {
    if (workers_.jobs() > 1 && count >= kWorthSharing) {
      make_spaces();
      workers_.run(kShards, task);
    } else {
      for (std::size_t number = 0; number < kShards; ++number) task(number, 0);
    }
  }
  void make_spaces() {
    while (spaces_.size() + 1 < workers_.jobs()) spaces_.push_back(space_.clone());
  }
  SearchSpace<State>& space_of(unsigned worker) {
    return worker == 0 ? space_ : *spaces_[worker - 1];
  }

  /// Takes the deepest of the most promising states: each list of open states is a stack.
  std::size_t take(Shard& shard, std::int64_t at_least) {
    shard.taken.clear();
    const auto bucket = shard.open.find(at_least);
    if (bucket == shard.open.end()) return 0;
    std::vector<NodeId>& ids = bucket->second;
    while (!ids.empty() && shard.taken.size() < kRoundOfShard) {
      auto& node = nodes_[ids.back()];
      if (node.is_expanded == 0) {  // otherwise expanded since, after a cheaper way was found
        node.is_expanded = 1;
        shard.taken.push_back(ids.back());
      }
      ids.pop_back();
      --shard.num_open;
    }
    if (ids.empty()) shard.open.erase(bucket);
    return shard.taken.size();
  }

  /// Computes the state's second bound. Returns true if the state is deferred: it is opened
  /// again at the larger bound, or dropped if that is not below `upper_`. The state belongs
  /// to this shard.
  bool deferred(Shard& shard, NodeId id, std::int64_t at_least, SearchSpace<State>& space) {
    auto& node = nodes_[id];
    if (node.is_refined != 0 || !refines_) return false;
    node.is_refined = 1;
    ++shard.num_refined;
    const std::int64_t limit = upper_ == kUnknownCost ? upper_ : upper_ - node.cost;
    const std::int64_t better = node.cost + space.second_bound(node.state, limit);
    if (better <= at_least) return false;
    ++shard.num_deferred;
    if (better < upper_) {
      node.is_expanded = 0;
      shard.open[better].push_back(id);
      ++shard.num_open;
    }
    return true;
  }

  /// The bound `at_least` of a state also holds for its successors, even if their own bounds are
  /// smaller (pathmax: Mero 1984, A heuristic search algorithm with modifiable estimate).
  void expand(Shard& shard, NodeId id, std::int64_t at_least, SearchSpace<State>& space) {
    thread_local std::vector<Successor<State>> successors;
    const auto& node = nodes_[id];
    space.successors(node.state, upper_ == kUnknownCost ? upper_ : upper_ - node.cost, successors);
    for (const Successor<State>& successor : successors) {
      depart(shard, successor, {id, node.cost + successor.cost, at_least}, space);
    }
  }

  struct Way {
    NodeId from = kNoNode;
    std::uint32_t cost = 0;
    std::int64_t at_least = 0;
  };
  static void depart(Shard& shard, const Successor<State>& successor, const Way& way,
                     const SearchSpace<State>& space) {
    const std::uint64_t hash = hash_of(successor.state);
    shard.departures[NodeTable<State>::shard_of(hash)].push_back(
        {successor.state, hash, way.cost, way.from, successor.bound, way.at_least,
         space.is_goal(successor.state)});
  }

  /// Inserts all arrivals of a shard.
  void arrive(unsigned number, SearchSpace<State>& space) {
    constexpr std::size_t kAhead = 8;  // prefetch distance, in nodes
    NodeTable<State>& table = nodes_.shard(number);
    for (Shard& from : shards_) {
      std::vector<Arrival>& arrivals = from.departures[number];
      for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (i + kAhead < arrivals.size()) table.prefetch(arrivals[i + kAhead].hash);
        insert(number, table, arrivals[i], space);
      }
      arrivals.clear();
    }
  }

  void insert(unsigned number, NodeTable<State>& table, const Arrival& arrival,
              SearchSpace<State>& space) {
    const auto [index, is_new] = table.insert(arrival.state, arrival.hash);
    auto& node = table[index];
    if (!is_new && node.cost <= arrival.cost) return;
    node.cost = arrival.cost & 0x3FFFFFFFU;
    node.is_expanded = 0;
    node.is_refined = 0;
    node.parent = arrival.from;
    Shard& shard = shards_[number];
    const NodeId id = ShardedNodes<State>::id_of(number, index);
    if (!arrival.is_goal) {
      const std::int64_t bound =
          arrival.bound == kBoundLater ? space.bound(arrival.state) : arrival.bound;
      const std::int64_t at_least = std::max(arrival.cost + bound, arrival.at_least);
      if (bound >= kDeadEnd || at_least >= upper_) return;
      shard.open[at_least].push_back(id);
      ++shard.num_open;
    } else if (arrival.cost < shard.goal_cost) {
      shard.goal_cost = arrival.cost;
      shard.goal = id;
    }
  }

  /// Takes the cheapest goal that the round reached, if it is the best so far.
  void take_goal() {
    for (Shard& shard : shards_) {
      if (shard.goal_cost < upper_) {
        upper_ = shard.goal_cost;
        goal_ = shard.goal;
      }
    }
  }

  /// Writes all data that later rounds depend on. The lists keep their order, so that a resumed
  /// search takes the same rounds.
  void save() {
    if (num_rounds_ == 0) return;  // nothing to save yet
    CheckpointWriter file(limits_.asked.checkpoint, limits_.fingerprint);
    file.value(upper_);
    file.value(goal_);
    file.value(num_rounds_);
    file.value(std::uint64_t{refines_});
    file.value(known_ ? known_->cost : kUnknownCost);
    file.list(known_ ? known_->states : std::vector<State>());
    for (unsigned number = 0; number < kShards; ++number) {
      nodes_.shard(number).save(file);
      const Shard& shard = shards_[number];
      file.value(shard.num_refined);
      file.value(shard.num_deferred);
      file.value(std::uint64_t{shard.open.size()});
      for (const auto& [at_least, ids] : shard.open) {
        file.value(at_least);
        file.list(ids);
      }
    }
    file.finish();
  }

  void restore() {
    CheckpointReader file(limits_.asked.checkpoint, limits_.fingerprint);
    upper_ = file.value<std::int64_t>();
    goal_ = file.value<NodeId>();
    num_rounds_ = file.value<std::uint64_t>();
    refines_ = file.value<std::uint64_t>() != 0;
    const auto cost = file.value<std::int64_t>();
    Path<State> path{file.list<State>(), cost};
    known_ = cost == kUnknownCost ? std::optional<Path<State>>() : std::move(path);
    for (unsigned number = 0; number < kShards; ++number) {
      nodes_.shard(number).restore(file);
      Shard& shard = shards_[number];
      shard.num_refined = file.value<std::uint64_t>();
      shard.num_deferred = file.value<std::uint64_t>();
      for (auto buckets = file.value<std::uint64_t>(); buckets > 0; --buckets) {
        const auto at_least = file.value<std::int64_t>();
        shard.num_open += (shard.open[at_least] = file.list<NodeId>()).size();
      }
    }
  }

  void remove_checkpoint() const { std::remove(limits_.asked.checkpoint.c_str()); }

  std::size_t bytes() const {
    std::size_t result = nodes_.bytes();
    for (const Shard& shard : shards_) {
      result += shard.num_open * 2 * sizeof(NodeId);
      for (const auto& arrivals : shard.departures) result += arrivals.capacity() * sizeof(Arrival);
    }
    return result;
  }

  bool may_go_on() {
    const double seconds = limits_.seconds();
    if (limits_.asked.progress && num_rounds_ > 0 &&
        seconds - reported_ >= limits_.asked.progress_every_s) {
      report(seconds);
    }
    if (!limits_.asked.checkpoint.empty() && seconds - saved_ >= limits_.asked.checkpoint_every_s) {
      save();
      saved_ = limits_.seconds();
    }
    if (limits_.is_over() || !nodes_.has_numbers_for(kNewStatesOfRound) ||
        bytes() + nodes_.bytes_to_grow(kNewStatesOfRound) > limits_.asked.max_bytes) {
      return false;
    }
    ++num_rounds_;
    return true;
  }

  void report(double seconds) {
    const double since = seconds - reported_;
    const auto states = static_cast<double>(nodes_.size() - reported_states_);
    Progress progress{
        nodes_.size(),      seconds, states / since, space_.to_cycles(lower()), {}, bytes(),
        seconds_left(since)};
    if (upper_ != kUnknownCost) progress.upper_cycles = space_.to_cycles(upper_);
    limits_.asked.progress(progress);
    reported_ = seconds;
    reported_states_ = nodes_.size();
  }

  /// Estimates the time left from the rate at which the open states below the upper bound decrease.
  std::optional<double> seconds_left(double since) {
    std::size_t open = 0;
    for (const Shard& shard : shards_) {
      for (const auto& [at_least, ids] : shard.open) open += at_least < upper_ ? ids.size() : 0;
    }
    const std::size_t before = std::exchange(reported_open_, open);
    if (upper_ == kUnknownCost || before <= open || since <= 0) return std::nullopt;
    return static_cast<double>(open) / static_cast<double>(before - open) * since;
  }

  SearchSpace<State>& space_;
  const SearchLimits& limits_;
  std::optional<Path<State>>& known_;
  std::int64_t upper_ = kUnknownCost;  // the search looks only for cheaper programs
  Workers workers_;
  std::vector<std::unique_ptr<SearchSpace<State>>> spaces_;  // of the workers from the second on
  ShardedNodes<State> nodes_;
  std::array<Shard, kShards> shards_;
  NodeId goal_ = kNoNode;
  bool refines_ = true;  // whether second bounds are used
  std::uint64_t num_rounds_ = 0;
  double reported_ = 0, saved_ = 0;  // times in seconds
  std::size_t reported_open_ = 0;
  std::uint64_t reported_states_ = 0;
};

}  // namespace

template <class State>
Proof<State> best_first_search(SearchSpace<State>& space, const SearchLimits& limits,
                               std::optional<Path<State>>& known) {
  return BestFirst<State>(space, limits, known).run();
}

template Proof<State> best_first_search(SearchSpace<State>&, const SearchLimits&,
                                        std::optional<Path<State>>&);
template Proof<WideState<2>> best_first_search(SearchSpace<WideState<2>>&, const SearchLimits&,
                                               std::optional<Path<WideState<2>>>&);
template Proof<WideState<4>> best_first_search(SearchSpace<WideState<4>>&, const SearchLimits&,
                                               std::optional<Path<WideState<4>>>&);

}  // namespace flashlab::optimal::detail
