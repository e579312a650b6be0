// The searches of solve(): those that find a program soon, and the one that proves.
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

/// The bound of a successor that is computed only once the state turns out to be new.
inline constexpr std::int64_t kBoundLater = -1;
/// The bound of a state that no way leads on from.
inline constexpr std::int64_t kDeadEnd = std::int64_t{1} << 60;

/// A state one move away, as the representative of its class.
template <class State>
struct Successor {
  State state{};
  std::uint32_t cost = 0;
  std::int64_t bound = 0;  // of what remains from there, or kBoundLater
};

/// Where a search begins, as the representative of its class, and what was paid before.
template <class State>
struct Start {
  State state{};
  std::uint32_t cost = 0;
};

/// What both searches look at: states, moves, and a bound that a move lowers by at most its cost.
/// The costs of a path add up to less than 2^30. A space is one thread's.
template <class State>
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;
  /// Another thread's.
  virtual std::unique_ptr<SearchSpace> clone() const = 0;
  /// The search's answer is the cheapest over all of them.
  virtual std::vector<Start<State>> starts() const = 0;
  virtual bool is_goal(const State& state) const = 0;
  /// At least 0.
  virtual std::int64_t bound(const State& state) = 0;
  /// One that may be larger and takes longer: for states about to be expanded. Admissible, and no
  /// more: a state that is reached more cheaply later is expanded again.
  /// May stop at `limit`, from which on the state is of no use.
  virtual std::int64_t second_bound(const State&, std::int64_t /*limit*/) { return 0; }
  /// How much is left to do, to choose between states that promise the same.
  virtual int work_left(const State& state) const = 0;
  /// Replaces `result` by the successors whose cost and bound together, as far as they are known,
  /// are below `limit`.
  virtual void successors(const State& state, std::int64_t limit,
                          std::vector<Successor<State>>& result) = 0;
  virtual std::int64_t to_cycles(std::int64_t cost) const = 0;
};

/// The clock and the caller's limits.
struct SearchLimits {
  const SolveLimits& asked;
  std::uint64_t fingerprint = 0;  // of what is searched
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool is_over() const {
    return (asked.cancel != nullptr && asked.cancel->load()) || seconds() > asked.max_seconds;
  }
};

/// A way from a first state to the goal, a state for each move.
template <class State>
struct Path {
  std::vector<State> states;
  std::int64_t cost = kUnknownCost;
};

/// A program that may not be the best: move by move, the `beam_width` states that promise most.
template <class State>
std::optional<Path<State>> beam_search(SearchSpace<State>& space, const SearchLimits& limits);

/// A program that costs no more than the bounds say of every program, if one is soon found: from
/// state to state as long as both bounds promise it. For spaces that have a second bound.
template <class State>
std::optional<Path<State>> descend(SearchSpace<State>& space, const SearchLimits& limits);

template <class State>
struct Proof {
  std::optional<Path<State>> path;  // cheaper than `upper`, if there is one
  std::int64_t lower = 0;  // no program costs less; kUnknownCost: there is no program below `upper`
  bool is_finished = false;
  std::uint64_t states = 0;
  std::size_t bytes = 0;
};
/// A*: the cheapest program, if it costs less than the one that is known. What it returns does not
/// depend on how many threads work on it. Where there is a checkpoint it goes on from that, `known`
/// becoming what was known then.
template <class State>
Proof<State> best_first_search(SearchSpace<State>& space, const SearchLimits& limits,
                               std::optional<Path<State>>& known);

/// All, one after the other: the first program that costs least.
template <class State>
struct Searched {
  std::optional<Path<State>> path;
  Proof<State> proof;
};

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
