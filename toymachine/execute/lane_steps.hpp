// Unrolled steps over rows of lanes. Made from the instruction table three times over, as the lane
// kernels are: for the compiler's baseline, AVX2 and AVX-512. All give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "toymachine/execute/lanes.hpp"

namespace flashlab::toy::detail {

inline constexpr std::int32_t kNoLane = -1;

/// How far a run came. Plain data: what several builds share must not be compiled for one of them.
struct LaneStop {
  std::size_t step = 0;         // the number of steps, when none went wrong
  std::int32_t lane = kNoLane;  // the first one that went wrong
  bool unwritten = false;       // see LaneFault
};

/// Executes the steps until one goes wrong. `registers` are followed by the constants.
using LaneRun = LaneStop (*)(const UnrolledStep* steps, std::size_t num_steps, LaneValue* registers,
                             LaneValue* dram);

}  // namespace flashlab::toy::detail
