// The two searches of solve(): one that finds a program soon, one that proves.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "optimal/detail/product_states.hpp"
#include "optimal/detail/symmetry.hpp"
#include "optimal/solve.hpp"

namespace flashlab::optimal::detail {

inline constexpr std::int64_t kUnknownCost = std::numeric_limits<std::int64_t>::max();

/// What both searches look at.
struct SearchSpace {
  const ProductStates& states;
  const Symmetry& symmetry;
  const SolveLimits& limits;
  std::chrono::steady_clock::time_point begin;

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool is_over() const {
    return (limits.cancel != nullptr && limits.cancel->load()) || seconds() > limits.max_seconds;
  }
};

/// A way from the first state to the goal, a state for each move.
struct Path {
  std::vector<State> states;
  std::int64_t cost = kUnknownCost;
};

/// A program that may not be the best: move by move, the `beam_width` states that promise most.
std::optional<Path> beam_search(const SearchSpace& space);

struct Proof {
  std::optional<Path> path;  // cheaper than `upper`, if there is one
  std::int64_t lower = 0;  // no program costs less; kUnknownCost: there is no program below `upper`
  bool is_finished = false;
  std::uint64_t states = 0;
  std::size_t bytes = 0;
};
/// A*: the cheapest program, if it costs less than `upper`.
Proof best_first_search(const SearchSpace& space, std::int64_t upper);

}  // namespace flashlab::optimal::detail
