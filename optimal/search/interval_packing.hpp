// The most intervals that fit a line whose room varies from point to point.
#pragma once

#include <cstdint>
#include <vector>

namespace flashlab::optimal::detail {

/// Takes one place at each point of [start, end); never empty.
struct Interval {
  std::int32_t start = 0, end = 0;
  bool preferred = false;  // rather kept than another, where that costs none
};

/// Which to keep so that no point p has more than room[p] (from 0 on) of them: as many as can be
/// kept at all. Whenever a point is too full, the interval that ends last goes (Belady's rule).
/// O(intervals log intervals + points).
std::vector<char> pack_intervals(const std::vector<Interval>& intervals,
                                 const std::vector<std::int32_t>& room);

/// As many, and among all such choices one that keeps most of the preferred: a flow of least cost,
/// which starts from the preferred intervals and takes the others in one by one. The preferred must
/// fit by themselves; `largest` is what pack_intervals() returns. Nothing (an empty list) when that
/// takes more than about `most_work` steps. Source: R. K. Ahuja, T. L. Magnanti, J. B. Orlin,
/// Network Flows (1993), chapter 9: reduced costs.
std::vector<char> pack_intervals_near_preferred(const std::vector<Interval>& intervals,
                                                const std::vector<std::int32_t>& room,
                                                const std::vector<char>& largest,
                                                std::int64_t most_work);

}  // namespace flashlab::optimal::detail
