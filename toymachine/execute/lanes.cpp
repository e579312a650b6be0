#include "toymachine/execute/lanes.hpp"

#include <algorithm>
#include <limits>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/lane_steps.hpp"
#include "toymachine/execute/vector_extension.hpp"

namespace flashlab::toy {

namespace detail {
namespace baseline {
extern const LaneRun kLaneRun;
}  // namespace baseline
namespace avx2 {
extern const LaneRun kLaneRun;
}  // namespace avx2
namespace avx512 {
extern const LaneRun kLaneRun;
}  // namespace avx512

/// Returns the fastest build for this processor.
LaneRun lane_run() { return FLASHLAB_FASTEST(kLaneRun); }

}  // namespace detail

namespace {

constexpr std::size_t kStepsBetweenChecks = 1 << 12;

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
  const detail::LaneRun run_steps = detail::lane_run();
  for (std::size_t first = 0; first < program.steps.size(); first += kStepsBetweenChecks) {
    const std::size_t count = std::min(kStepsBetweenChecks, program.steps.size() - first);
    const detail::LaneStop stop =
        run_steps(program.steps.data() + first, count, registers.data(), dram.data());
    if (stop.lane != detail::kNoLane) {
      return LaneFault{first + stop.step, static_cast<std::size_t>(stop.lane), stop.unwritten};
    }
    check_budget(static_cast<std::int64_t>(count));
  }
  return std::nullopt;
}

std::string_view instruction_set_in_use() {
  switch (detail::vector_extension()) {
    case detail::VectorExtension::kAvx512:
      return "avx512";
    case detail::VectorExtension::kAvx2:
      return "avx2";
    case detail::VectorExtension::kNone:
      break;
  }
  return "baseline";
}

}  // namespace flashlab::toy
