// Executes unrolled steps on rows of lanes. Like the lane kernels, made from the instruction table
// three times: for the compiler's baseline, AVX2 and AVX-512. All give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "toymachine/execute/lanes.hpp"

namespace flashlab::toy::detail {

inline constexpr std::int32_t kNoLane = -1;

/// Where a run stopped. Plain data, because a type shared by several builds must not be compiled
/// for one of them.
struct LaneStop {
  std::size_t step = 0;         // the number of steps if none failed
  std::int32_t lane = kNoLane;  // the first lane that failed
  bool unwritten = false;       // see LaneFault
};

/// Executes the steps until one fails. The constants follow the registers in `registers`.
using LaneRun = LaneStop (*)(const UnrolledStep* steps, std::size_t num_steps, LaneValue* registers,
                             LaneValue* dram);

}  // namespace flashlab::toy::detail
