// The cost of the cheapest path from live sets to the end of a program.
#pragma once

#include <vector>

#include "optimal/problem/remainder.hpp"
#include "optimal/search/live_states.hpp"
#include "optimal/search/search.hpp"

namespace flashlab::optimal::detail {

/// Returns the cost of the cheapest completion from any of the states. In each of them, any live
/// values may be dropped first. Uses A*; if a limit is reached, returns the lower bound known then.
Remainder cheapest_completion(LiveSpace& space, const std::vector<State>& from,
                              const SearchLimits& limits);

}  // namespace flashlab::optimal::detail
