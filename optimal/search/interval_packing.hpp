// Selects as many intervals as possible for a line whose capacity varies from point to point.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::optimal::detail {

/// Takes one place at each point of [start, end); never empty.
struct Interval {
  std::int32_t start = 0, end = 0;
  /// Keep it rather than another one if as many intervals are kept either way.
  bool preferred = false;
};

/// Returns for each interval whether it is kept (1) or not (0). At most room[p] of the kept
/// intervals contain point p (points count from 0), and as many as possible are kept. Whenever a
/// point is too full, the interval that ends last is dropped (Belady's rule). O(intervals log
/// intervals + points).
std::vector<char> pack_intervals(const std::vector<Interval>& intervals,
                                 const std::vector<std::int32_t>& room);

/// Keeps as many intervals as pack_intervals(). Among all such choices, it makes one that keeps as
/// many preferred intervals as possible. Solves a minimum-cost flow that starts from the preferred
/// intervals and adds the others one by one. The preferred intervals must fit on their own;
/// `largest` is the result of pack_intervals(). Returns an empty list if that takes more than about
/// `most_work` steps. Source: R. K. Ahuja, T. L. Magnanti, J. B. Orlin, Network Flows (1993),
/// chapter 9: reduced costs.
std::vector<char> pack_intervals_near_preferred(const std::vector<Interval>& intervals,
                                                const std::vector<std::int32_t>& room,
                                                const std::vector<char>& largest,
                                                std::int64_t most_work);

}  // namespace flashlab::optimal::detail
