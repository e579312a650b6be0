#include "toymachine/lanes.hpp"

#include <algorithm>
#include <limits>

#include "toymachine/detail/lane_steps.hpp"
#include "toymachine/detail/vector_extension.hpp"

namespace flashlab::toy {

namespace detail {
namespace baseline {
extern const LaneRun kLaneRun;
}  // namespace baseline
#ifdef FLASHLAB_X86_LANES
namespace avx2 {
extern const LaneRun kLaneRun;
}  // namespace avx2
namespace avx512 {
extern const LaneRun kLaneRun;
}  // namespace avx512
#endif
}  // namespace detail

namespace {

/// The fastest build that this processor can run.
detail::LaneRun lane_run() {
#ifdef FLASHLAB_X86_LANES
  if (detail::vector_extension() == detail::VectorExtension::kAvx512) {
    return detail::avx512::kLaneRun;
  }
  if (detail::vector_extension() == detail::VectorExtension::kAvx2) return detail::avx2::kLaneRun;
#endif
  return detail::baseline::kLaneRun;
}

LaneValue everywhere(float value) {
  LaneValue result;
  std::fill_n(result.lane, kLanes, value);
  return result;
}

}  // namespace

std::optional<LaneFault> run_lanes(const UnrolledProgram& program, std::span<LaneValue> dram,
                                   std::vector<LaneValue>& registers) {
  const auto num_registers = static_cast<std::size_t>(program.num_registers);
  registers.assign(num_registers, everywhere(std::numeric_limits<float>::quiet_NaN()));
  registers.reserve(num_registers + program.constants.size());
  for (const double value : program.constants) {
    registers.push_back(everywhere(static_cast<float>(value)));
  }
  const detail::LaneStop stop =
      lane_run()(program.steps.data(), program.steps.size(), registers.data(), dram.data());
  if (stop.lane == detail::kNoLane) return std::nullopt;
  return LaneFault{stop.step, static_cast<std::size_t>(stop.lane), stop.unwritten};
}

}  // namespace flashlab::toy
