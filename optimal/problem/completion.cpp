#include "optimal/problem/completion.hpp"

#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace flashlab::optimal::detail {
namespace {

constexpr std::size_t kBytesOfCompletion = 96;  // in the table and in the queue

class CompletionSearch {
 public:
  CompletionSearch(LiveSpace& space, const SearchLimits& limits) : space_(space), limits_(limits) {}

  Remainder from(const std::vector<State>& states) {
    for (const State state : states) reach(state, 0, true);
    std::int64_t least = 0;
    for (std::uint64_t visited = 0; !open_.empty(); ++visited) {
      const Entry entry = open_.top();
      least = entry.least;
      if (space_.is_goal(entry.state)) return {true, true, entry.cycles};
      if (visited % 256 == 0 && is_over()) return {true, false, least};
      open_.pop();
      if (entry.cycles == best_.at(entry.state)) expand(entry);
    }
    return {false, true, 0};
  }

 private:
  struct Entry {
    std::int64_t least;  // of a whole way through the state
    std::int64_t cycles;
    State state;
    bool at_start;  // no instruction so far
    /// Among states that promise the same, those first that are nearer to the end.
    bool operator<(const Entry& other) const {
      return std::tie(other.least, cycles) < std::tie(least, other.cycles);
    }
  };

  bool is_over() const {
    return limits_.is_over() ||
           (best_.size() + open_.size()) * kBytesOfCompletion + space_.bytes() >
               limits_.asked.max_bytes;
  }

  void expand(const Entry& entry) {
    if (entry.at_start) {
      space_.without_one(entry.state, fewer_);
      for (const State state : fewer_) reach(state, 0, true);
    }
    space_.steps(entry.state, steps_);
    for (const LiveStep& step : steps_) reach(step.next, entry.cycles + step.cost, false);
  }

  void reach(State state, std::int64_t cycles, bool at_start) {
    const std::int64_t least = cycles + space_.bound(state);
    state = space_.representative(state);
    const auto [place, is_new] = best_.try_emplace(state, cycles);
    if (!is_new && place->second <= cycles) return;
    place->second = cycles;
    open_.push({least, cycles, state, at_start});
  }

  LiveSpace& space_;
  const SearchLimits& limits_;
  std::unordered_map<State, std::int64_t> best_;
  std::priority_queue<Entry> open_;
  std::vector<LiveStep> steps_;
  std::vector<State> fewer_;
};

}  // namespace

Remainder cheapest_completion(LiveSpace& space, const std::vector<State>& from,
                              const SearchLimits& limits) {
  return CompletionSearch(space, limits).from(from);
}

}  // namespace flashlab::optimal::detail
