// Which tiles share a place in shared memory, and which are loaded one iteration ahead.
#pragma once

#include <cstdint>

#include "generate/plan/fragment_plan.hpp"

namespace flashlab::generate {

/// Gives every value in shared memory its place, and sets plan.shared_bytes. Values that are never
/// needed at the same time may share one. `prefetches`: tiles that a loop loads have two places each.
void place_in_shared_memory(const toy::BoundProgram& program, FragmentPlan& plan, bool prefetches);

/// Returns the most numbers of fragments that a thread holds at the same time.
std::int64_t most_numbers(const FragmentPlan& plan, std::int64_t warps);

}  // namespace flashlab::generate
