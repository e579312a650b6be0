// The searches of solve(): two that find some program quickly, and one that proves which is the
// best.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "optimal/search/checkpoint.hpp"
#include "optimal/search/limits.hpp"
#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {

inline constexpr std::int64_t kUnknownCost = std::numeric_limits<std::int64_t>::max();

/// Stands for a successor's bound that is not computed yet. It is computed only if the state turns
/// out to be new, or was reached at a higher cost before.
inline constexpr std::int64_t kBoundLater = -1;
/// The bound of a state from which no goal can be reached.
inline constexpr std::int64_t kDeadEnd = std::int64_t{1} << 60;

/// A state one move away, as the representative of its symmetry class.
template <class State>
struct Successor {
  State state{};
  std::uint32_t cost = 0;
  std::int64_t bound = 0;  // a lower bound on the remaining cost from there, or kBoundLater
};

/// A state in which a search begins, as the representative of its class, and the cost paid so far.
template <class State>
struct Start {
  State state{};
  std::uint32_t cost = 0;
};

/// What the searches need: states, moves, and a consistent bound (a move lowers it by at most the
/// move's cost). The costs of a path add up to less than 2^30. Each thread has its own space.
template <class State>
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;
  /// A copy for another thread.
  virtual std::unique_ptr<SearchSpace> clone() const = 0;
  /// The search returns the cheapest path over all these starts.
  virtual std::vector<Start<State>> starts() const = 0;
  virtual bool is_goal(const State& state) const = 0;
  /// A lower bound on the remaining cost; at least 0.
  virtual std::int64_t bound(const State& state) = 0;
  /// A second lower bound for states about to be expanded. It may be larger and takes longer to
  /// compute. It is admissible but need not be consistent: a state that is reached more cheaply
  /// later is expanded again. The computation may stop once the bound reaches `limit`, because
  /// the state is then of no use.
  virtual std::int64_t second_bound(const State&, std::int64_t /*limit*/) { return 0; }
  /// The work that is left, to choose between states with equal bounds.
  virtual int work_left(const State& state) const = 0;
  /// Replaces `result` by the successors whose cost plus bound is below `limit`. A bound that is
  /// not computed yet counts as 0.
  virtual void successors(const State& state, std::int64_t limit,
                          std::vector<Successor<State>>& result) = 0;
  virtual std::int64_t to_cycles(std::int64_t cost) const = 0;
};

/// The clock, and the caller's limits.
struct SearchLimits {
  const SolveLimits& asked;
  std::uint64_t fingerprint = 0;  // of the search
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool is_over() const {
    return (asked.cancel != nullptr && asked.cancel->load()) || seconds() > asked.max_seconds;
  }
};

/// A path from a start to the goal, with one state per move.
template <class State>
struct Path {
  std::vector<State> states;
  std::int64_t cost = kUnknownCost;
};

/// Finds a program that may not be the best: keeps the `beam_width` most promising states
/// after each move.
template <class State>
std::optional<Path<State>> beam_search(SearchSpace<State>& space, const SearchLimits& limits);

/// Finds a program whose cost equals the lower bound of the starts, if a greedy descent reaches the
/// goal: each move goes to a state for which both bounds still allow that cost. Meant for
/// spaces that have a second bound.
template <class State>
std::optional<Path<State>> descend(SearchSpace<State>& space, const SearchLimits& limits);

template <class State>
struct Proof {
  std::optional<Path<State>> path;  // cheaper than the known program, if there is such a path
  std::int64_t lower = 0;           // no program costs less; kUnknownCost: there is no program
  bool is_finished = false;
  std::uint64_t states = 0;
  std::size_t bytes = 0;
};
/// A*: finds the cheapest program if it costs less than the known one. The result does not depend
/// on the number of threads. If a checkpoint exists, the search resumes from it, and `known` is
/// replaced by the program that was known then.
template <class State>
Proof<State> best_first_search(SearchSpace<State>& space, const SearchLimits& limits,
                               std::optional<Path<State>>& known);

/// The cheapest program found, and what is proved about it.
template <class State>
struct Searched {
  std::optional<Path<State>> path;
  Proof<State> proof;
};

/// Looks for a first program with descend(), then with beam_search() if that fails. Both are
/// skipped if the search resumes from a checkpoint or beam_width is 0. Then best_first_search()
/// looks for a cheaper program, or proves that there is none.
template <class State>
Searched<State> search(SearchSpace<State>& space, const SearchLimits& limits) {
  Searched<State> result;
  const bool goes_on = CheckpointReader::is_there(limits.asked.checkpoint);
  if (limits.asked.beam_width > 0 && !goes_on) {
    result.path = descend(space, limits);
    if (!result.path) result.path = beam_search(space, limits);
  }
  result.proof = best_first_search(space, limits, result.path);
  if (result.proof.path) result.path = result.proof.path;
  return result;
}

}  // namespace flashlab::optimal::detail
