// The two searches of solve(): one that finds a program soon, one that proves.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "optimal/detail/node_table.hpp"
#include "optimal/solve.hpp"

namespace flashlab::optimal::detail {

inline constexpr std::int64_t kUnknownCost = std::numeric_limits<std::int64_t>::max();

/// A state one move away, as the representative of its class.
struct Successor {
  State state = 0;
  std::uint32_t cost = 0;
  std::int64_t bound = 0;  // of what remains from there
};

/// What both searches look at: states, moves, and a bound that a move lowers by at most its cost.
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;
  virtual State initial() const = 0;  // of its class
  virtual bool is_goal(State state) const = 0;
  virtual std::int64_t bound(State state) const = 0;
  /// How much is left to do, to choose between states that promise the same.
  virtual int work_left(State state) const = 0;
  /// Replaces `result` by the successors whose cost and bound together are below `limit`.
  virtual void successors(State state, std::int64_t limit, std::vector<Successor>& result) = 0;
  virtual std::int64_t to_cycles(std::int64_t cost) const = 0;
};

/// The clock and the caller's limits.
struct SearchLimits {
  const SolveLimits& asked;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool is_over() const {
    return (asked.cancel != nullptr && asked.cancel->load()) || seconds() > asked.max_seconds;
  }
};

/// A way from the first state to the goal, a state for each move.
struct Path {
  std::vector<State> states;
  std::int64_t cost = kUnknownCost;
};

/// A program that may not be the best: move by move, the `beam_width` states that promise most.
std::optional<Path> beam_search(SearchSpace& space, const SearchLimits& limits);

struct Proof {
  std::optional<Path> path;  // cheaper than `upper`, if there is one
  std::int64_t lower = 0;  // no program costs less; kUnknownCost: there is no program below `upper`
  bool is_finished = false;
  std::uint64_t states = 0;
  std::size_t bytes = 0;
};
/// A*: the cheapest program, if it costs less than `upper`.
Proof best_first_search(SearchSpace& space, const SearchLimits& limits, std::int64_t upper);

/// Both, one after the other: the beam's program, or the proof's where it is cheaper.
struct Searched {
  std::optional<Path> path;
  Proof proof;
};
Searched search(SearchSpace& space, const SearchLimits& limits);
/// What an answer says of a search; its program is not there yet.
Answer answer_of(const SearchSpace& space, const Searched& searched);

}  // namespace flashlab::optimal::detail
