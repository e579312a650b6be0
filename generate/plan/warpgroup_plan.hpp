// A launch at level 2: products by warpgroups of four warps, tiles by bulk copies that another thread
// requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generate/plan/fragment_plan.hpp"
#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Threads of a block: those that compute, and a warpgroup of which one copies.
int threads_of_warpgroups(const FragmentPlan& plan);

/// Blocks that should run on a multiprocessor at the same time, so that one can multiply while the other
/// computes exponentials: two, if only one warpgroup computes.
int blocks_at_once(const FragmentPlan& plan);

/// Registers of each thread after the warpgroup that copies has given some to the others.
struct RegisterShares {
  int at_launch = 0, copying = 0, computing = 0;
};
RegisterShares register_shares(const FragmentPlan& plan);

/// Plans the launch for compute capability 9.0, from its plan at level 1: each warp holds 16 rows of
/// every fragment, and a loaded tile has as many stages as fit, up to three. Returns nothing, and why
/// in `why_not`, if wgmma or TMA cannot do what the launch needs, or tiles need more than
/// `shared_bytes`.
std::optional<FragmentPlan> warpgroup_plan(const toy::BoundProgram& program, FragmentPlan plan,
                                           std::int64_t shared_bytes, Reason& why_not);

/// Returns the arrays that a plan of warpgroup_plan() copies by boxes.
std::vector<BoxedArray> boxed_arrays(const toy::BoundProgram& program, const FragmentPlan& plan);

}  // namespace flashlab::generate
