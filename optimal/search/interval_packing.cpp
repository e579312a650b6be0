#include "optimal/search/interval_packing.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>

#include "optimal/search/index.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::optimal::detail {
namespace {

using Indices = std::vector<std::int32_t>;

/// The numbers of the intervals sorted by start (or end), and the first of them at each point.
struct ByPoint {
  std::vector<std::int32_t> first, members;

  template <class Point>
  ByPoint(const std::vector<Interval>& intervals, std::size_t num_points, const Point& point_of)
      : first(num_points + 1, 0), members(intervals.size()) {
    for (const Interval& one : intervals) ++first[at(point_of(one)) + 1];
    for (std::size_t p = 0; p < num_points; ++p) first[p + 1] += first[p];
    std::vector<std::int32_t> next(first.begin(), first.end() - 1);
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      members[at(next[at(point_of(intervals[i]))]++)] = static_cast<std::int32_t>(i);
    }
  }
};

/// Intervals differ only at points where one starts or ends. Each such point becomes a node. The
/// stretch to the next node becomes a line arc with the least room of its points.
struct NodeLine {
  std::vector<Interval> intervals;  // over nodes
  std::vector<std::int32_t> room;   // by node: of the stretch that begins there
};

NodeLine compressed(const std::vector<Interval>& intervals, const std::vector<std::int32_t>& room) {
  std::vector<std::int32_t> node(room.size() + 1, -1);
  for (const Interval& one : intervals) node[at(one.start)] = node[at(one.end)] = 0;
  NodeLine line;
  for (std::size_t p = 0; p < node.size(); ++p) {
    if (node[p] == 0) {
      node[p] = static_cast<std::int32_t>(line.room.size());
      line.room.push_back(std::numeric_limits<std::int32_t>::max());
    }
    if (p < room.size() && !line.room.empty()) {
      line.room.back() = std::min(line.room.back(), room[p]);
    }
  }
  for (const Interval& one : intervals) {
    line.intervals.push_back({node[at(one.start)], node[at(one.end)], one.preferred});
  }
  return line;
}

/// Units of flow run along the line from its first node to its last. A kept interval carries one
/// unit past its points, and `room` is the number of further units that may be carried past. Arcs
/// of the residual graph, with their costs: forward along the line, 0; backward where a place is
/// free, 0; from start to end of an interval that is not kept, minus its worth; from end to start
/// of a kept interval, its worth. No cycle has a negative cost, because the kept intervals are
/// worth most among those taken in so far. The potentials prove that: no reduced cost is negative.
class NearestPacking {
 public:
  explicit NearestPacking(NodeLine line, std::int64_t most_work)
      : line_(std::move(line)),
        num_nodes_(line_.room.size()),
        by_start_(line_.intervals, num_nodes_, [](const Interval& one) { return one.start; }),
        by_end_(line_.intervals, num_nodes_, [](const Interval& one) { return one.end; }),
        state_(line_.intervals.size(), kAbsent),
        potential_(num_nodes_, 0),
        distance_(num_nodes_, kFar),
        parent_(num_nodes_, 0),
        work_left_(most_work) {}

  /// `largest` is any packing with as many intervals as possible. Its intervals are taken in first.
  /// No better packing exists once that many are kept and all the preferred ones are among them.
  std::vector<char> run(const std::vector<char>& largest) {
    const auto most = std::count(largest.begin(), largest.end(), char{1});
    keep_preferred();
    for (const char wanted : {char{1}, char{0}}) {
      for (std::size_t i = 0; i < largest.size(); ++i) {
        if (num_kept_ == most && num_preferred_kept_ == num_preferred_) break;
        if (line_.intervals[i].preferred || largest[i] != wanted) continue;
        take_in(static_cast<std::int32_t>(i));
        if (work_left_ < 0) return {};
      }
    }
    std::vector<char> kept(state_.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = state_[i] == kKept ? 1 : 0;
    return kept;
  }

 private:
  enum State : char { kAbsent, kLeft, kKept };
  static constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kScanned = 16;                  // points of a scan per unit of work
  static constexpr std::int32_t kForward = -1, kBackward = -2;  // parents that are line arcs

  /// One more interval is worth more than all preferences together.
  std::int64_t worth(std::int32_t i) const {
    return static_cast<std::int64_t>(line_.intervals.size()) + 1 +
           (line_.intervals[at(i)].preferred ? 1 : 0);
  }

  void keep_preferred() {
    std::vector<std::int32_t> change(num_nodes_ + 1, 0);
    for (std::size_t i = 0; i < line_.intervals.size(); ++i) {
      if (!line_.intervals[i].preferred) continue;
      state_[i] = kKept;
      ++num_kept_;
      ++num_preferred_kept_;
      ++num_preferred_;
      ++change[at(line_.intervals[i].start)];
      --change[at(line_.intervals[i].end)];
    }
    std::int32_t taken = 0;
    for (std::size_t node = 0; node < num_nodes_; ++node) {
      line_.room[node] -= taken += change[node];
    }
  }

  void keep(std::int32_t i) { change(i, 1, kKept); }
  void leave(std::int32_t i) { change(i, -1, kLeft); }
  void change(std::int32_t i, std::int32_t by, State state) {
    const Interval& one = line_.intervals[at(i)];
    for (std::int32_t node = one.start; node < one.end; ++node) line_.room[at(node)] -= by;
    work_left_ -= (one.end - one.start) / kScanned;
    state_[at(i)] = state;
    num_kept_ += by;
    if (one.preferred) num_preferred_kept_ += by;
  }

  /// If a place is free at every point, both arcs of the line exist there and all potentials are
  /// equal. The way back is then the line itself and costs nothing.
  bool has_room(const Interval& one) {
    work_left_ -= (one.end - one.start) / kScanned;
    return std::all_of(line_.room.begin() + one.start, line_.room.begin() + one.end,
                       [](std::int32_t room) { return room > 0; });
  }

  /// Adds the interval as a new arc: keeps it if a way back from its end to its start costs less
  /// than the interval is worth.
  void take_in(std::int32_t i) {
    const Interval& one = line_.intervals[at(i)];
    if (has_room(one)) return keep(i);
    state_[at(i)] = kLeft;
    const std::int64_t most =
        worth(i) - potential_[at(one.start)] + potential_[at(one.end)];  // reduced
    if (most <= 0) return;
    const std::int64_t found = search(one.end, one.start, most);
    for (const std::int32_t node : reached_) {
      potential_[at(node)] += std::min(distance_[at(node)], found) - found;
      // All other nodes would gain `found`; subtracting it from all keeps the differences.
    }
    if (found < most) {
      for (std::int32_t node = one.start; node != one.end;) node = undo_arc(node);
      keep(i);
    }
    for (const std::int32_t node : reached_) distance_[at(node)] = kFar;
    reached_.clear();
  }

  /// Sends flow along the arc that led to the node; returns the node where that arc starts.
  std::int32_t undo_arc(std::int32_t node) {
    const std::int32_t arc = parent_[at(node)];
    if (arc == kForward) return node - 1;
    if (arc == kBackward) return node + 1;
    const Interval& one = line_.intervals[at(arc)];
    if (state_[at(arc)] == kKept) {
      leave(arc);
      return one.end;
    }
    keep(arc);
    return one.start;
  }

  /// Returns the reduced distance between the two nodes, or `most` if it is not smaller.
  std::int64_t search(std::int32_t from, std::int32_t to, std::int64_t most) {
    reach(from, 0, kForward);
    while (!queue_.empty()) {
      const auto [distance, node] = queue_.top();
      queue_.pop();
      if (distance >= most) break;
      if (distance > distance_[at(node)]) continue;
      if (node == to) {
        most = distance;
        break;
      }
      expand(node, distance);
    }
    queue_ = {};
    return most;
  }

  void expand(std::int32_t node, std::int64_t distance) {
    --work_left_;
    toy::check_budget(4);
    const auto relax = [&](std::int32_t next, std::int64_t cost, std::int32_t arc) {
      reach(next, distance + cost + potential_[at(node)] - potential_[at(next)], arc);
    };
    if (at(node) + 1 < num_nodes_) relax(node + 1, 0, kForward);
    if (node > 0 && line_.room[at(node - 1)] > 0) relax(node - 1, 0, kBackward);
    for (std::int32_t m = by_start_.first[at(node)]; m < by_start_.first[at(node) + 1]; ++m) {
      const std::int32_t i = by_start_.members[at(m)];
      if (state_[at(i)] == kLeft) relax(line_.intervals[at(i)].end, -worth(i), i);
    }
    for (std::int32_t m = by_end_.first[at(node)]; m < by_end_.first[at(node) + 1]; ++m) {
      const std::int32_t i = by_end_.members[at(m)];
      if (state_[at(i)] == kKept) relax(line_.intervals[at(i)].start, worth(i), i);
    }
  }

  void reach(std::int32_t node, std::int64_t distance, std::int32_t arc) {
    if (distance >= distance_[at(node)]) return;
    if (distance_[at(node)] == kFar) reached_.push_back(node);
    distance_[at(node)] = distance;
    parent_[at(node)] = arc;
    queue_.emplace(distance, node);
  }

  using Entry = std::pair<std::int64_t, std::int32_t>;  // distance, node

  NodeLine line_;
  std::size_t num_nodes_;
  ByPoint by_start_, by_end_;
  std::vector<char> state_;
  std::vector<std::int64_t> potential_, distance_;
  std::vector<std::int32_t> parent_, reached_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::int64_t work_left_;
  std::ptrdiff_t num_kept_ = 0, num_preferred_ = 0, num_preferred_kept_ = 0;
};

}  // namespace

std::vector<char> pack_intervals(const std::vector<Interval>& intervals,
                                 const std::vector<std::int32_t>& room) {
  const ByPoint by_start(intervals, room.size() + 1, [](const Interval& one) { return one.start; });
  std::vector<char> kept(intervals.size(), 1);
  std::vector<std::int32_t> ending(room.size() + 1, 0);  // number of kept intervals, by end
  // The interval that ends last is on top; among equals, one that is not preferred.
  const auto goes_later = [&](std::int32_t a, std::int32_t b) {
    const Interval &one = intervals[at(a)], &other = intervals[at(b)];
    return std::pair(one.end, !one.preferred) < std::pair(other.end, !other.preferred);
  };
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(goes_later)> open(
      goes_later);
  std::int32_t taken = 0;
  for (std::size_t p = 0; p < room.size(); ++p) {
    taken -= ending[p];
    for (std::int32_t m = by_start.first[p]; m < by_start.first[p + 1]; ++m) {
      const std::int32_t i = by_start.members[at(m)];
      open.push(i);
      ++ending[at(intervals[at(i)].end)];
      ++taken;
    }
    for (; taken > room[p]; --taken) {  // intervals that have ended are below the top
      kept[at(open.top())] = 0;
      --ending[at(intervals[at(open.top())].end)];
      open.pop();
    }
  }
  return kept;
}

std::vector<char> pack_intervals_near_preferred(const std::vector<Interval>& intervals,
                                                const std::vector<std::int32_t>& room,
                                                const std::vector<char>& largest,
                                                std::int64_t most_work) {
  return NearestPacking(compressed(intervals, room), most_work).run(largest);
}

}  // namespace flashlab::optimal::detail
