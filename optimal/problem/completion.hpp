// What the cheapest way from live sets to the end costs.
#pragma once

#include <vector>

#include "optimal/problem/remainder.hpp"
#include "optimal/search/live_states.hpp"
#include "optimal/search/search.hpp"

namespace flashlab::optimal::detail {

/// From the cheapest of the states, of each of which any values may be of no more use. A*; what is
/// known when a limit is reached.
Remainder cheapest_completion(LiveSpace& space, const std::vector<State>& from,
                              const SearchLimits& limits);

}  // namespace flashlab::optimal::detail
