#include <algorithm>
#include <tuple>

#include "optimal/search/search.hpp"

namespace flashlab::optimal::detail {
namespace {

template <class State>
class Descent {
 public:
  Descent(SearchSpace<State>& space, const SearchLimits& limits) : space_(space), limits_(limits) {}

  std::optional<Path<State>> run() {
    std::optional<Start<State>> first;
    std::int64_t enough = kUnknownCost;  // lower bound on every program
    for (const Start<State>& start : space_.starts()) {
      const std::int64_t second = space_.second_bound(start.state, kDeadEnd);
      if (second == 0) return std::nullopt;
      const std::int64_t cost = start.cost + std::max(second, space_.bound(start.state));
      if (cost < enough) std::tie(first, enough) = std::tuple(start, cost);
    }
    if (!first) return std::nullopt;
    Path<State> path{{first->state}, first->cost};
    while (!space_.is_goal(path.states.back())) {
      if (limits_.is_over() || !step(path, enough)) return std::nullopt;
    }
    return path;
  }

 private:
  /// Appends the first successor for which both bounds allow a program of cost `enough`. Successors
  /// are tried from the last to the first: operations come before loads, so that a value is made as
  /// soon as possible.
  bool step(Path<State>& path, std::int64_t enough) {
    const std::int64_t left = enough - path.cost;
    space_.successors(path.states.back(), left + 1, successors_);
    for (auto next = successors_.rbegin(); next != successors_.rend(); ++next) {
      const std::int64_t left_then = left - next->cost;
      const auto is_known = [&](const State& state) { return state == next->state; };
      if (left_then < 0 || std::any_of(path.states.begin(), path.states.end(), is_known) ||
          space_.bound(next->state) > left_then ||
          space_.second_bound(next->state, left_then + 1) > left_then) {
        continue;
      }
      path.states.push_back(next->state);
      path.cost += next->cost;
      return true;
    }
    return false;
  }

  SearchSpace<State>& space_;
  const SearchLimits& limits_;
  std::vector<Successor<State>> successors_;
};

}  // namespace

template <class State>
std::optional<Path<State>> descend(SearchSpace<State>& space, const SearchLimits& limits) {
  return Descent<State>(space, limits).run();
}

template std::optional<Path<State>> descend(SearchSpace<State>&, const SearchLimits&);
template std::optional<Path<WideState<2>>> descend(SearchSpace<WideState<2>>&, const SearchLimits&);
template std::optional<Path<WideState<4>>> descend(SearchSpace<WideState<4>>&, const SearchLimits&);

}  // namespace flashlab::optimal::detail
