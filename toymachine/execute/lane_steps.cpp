// Compiled once for each instruction-set extension, each time into a separate namespace with
// the name FLASHLAB_LANES.
#include "toymachine/execute/lane_steps.hpp"

#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "toymachine/execute/execute.hpp"

#ifndef FLASHLAB_LANES
#define FLASHLAB_LANES baseline
#endif

namespace flashlab::toy::detail::FLASHLAB_LANES {
namespace {

template <std::size_t Row>
inline constexpr auto& kStepRow = std::get<Row>(kInstructionRows);

/// An operand that is read: a whole number, equal in all lanes, or a row of lanes.
struct Offset {
  std::int64_t value;
  std::int64_t operator[](std::size_t) const { return value; }
  bool written(std::size_t) const { return true; }
};
struct Lanes {
  const float* lane;
  float operator[](std::size_t t) const { return lane[t]; }
  bool written(std::size_t t) const { return lane[t] == lane[t]; }
};

template <OperandKind Kind>
auto input(std::int32_t slot, const LaneValue* registers, const LaneValue* dram) {
  if constexpr (Kind == OperandKind::kOffset) {
    return Offset{slot};
  } else if constexpr (is_memory(Kind)) {
    return Lanes{dram[slot].lane};
  } else {
    return Lanes{registers[slot].lane};
  }
}

bool is_legal_lane(float value) { return value < std::numeric_limits<float>::infinity(); }

/// Repeats the step lane by lane to find the lane that fails; one of them does.
template <std::size_t Row, class... Inputs>
LaneStop first_fault(const Inputs&... in) {
  for (std::size_t t = 0; t < kLanes; ++t) {
    const bool unwritten = !(in.written(t) && ...);
    if (unwritten || !is_legal_lane(kStepRow<Row>.effect(in[t]...))) {
      return {0, static_cast<std::int32_t>(t), unwritten};
    }
  }
  return {};
}

template <std::size_t Row, class... Inputs>
bool apply_to_lanes(LaneValue& target, LaneStop& stop, const Inputs&... in) {
  LaneValue result;  // the target may be one of the inputs
  int wrong = 0;
  for (std::size_t t = 0; t < kLanes; ++t) {
    const float value = kStepRow<Row>.effect(in[t]...);
    result.lane[t] = value;
    wrong |= is_legal_lane(value) ? 0 : 1;
    wrong |= (in.written(t) && ...) ? 0 : 1;
  }
  if (wrong != 0) [[unlikely]] {
    stop = first_fault<Row>(in...);
    return false;
  }
  target = result;
  return true;
}

template <std::size_t Row, std::size_t... I>
bool step(const std::int32_t* slots, LaneValue* registers, LaneValue* dram, LaneStop& stop,
          std::index_sequence<I...>) {
  using Layout = RowLayout<Row>;
  constexpr auto& kSpec = kStepRow<Row>.spec;
  LaneValue* const memory = is_memory(kSpec.operands[Layout::kWritten]) ? dram : registers;
  return apply_to_lanes<Row>(
      memory[slots[Layout::kWritten]], stop,
      input<kSpec.operands[Layout::kReads[I]]>(slots[Layout::kReads[I]], registers, dram)...);
}

/// Returns false if a lane fails, and stores where.
using LaneStep = bool (*)(const std::int32_t* slots, LaneValue* registers, LaneValue* dram,
                          LaneStop& stop);

template <std::size_t Row>
bool step(const std::int32_t* slots, LaneValue* registers, LaneValue* dram, LaneStop& stop) {
  return step<Row>(slots, registers, dram, stop,
                   std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <std::size_t... Row>
constexpr std::array<LaneStep, kNumRows> step_table(std::index_sequence<Row...>) {
  return {&step<Row>...};
}

constexpr auto kSteps = step_table(std::make_index_sequence<kNumRows>{});

LaneStop run_steps(const UnrolledStep* steps, std::size_t num_steps, LaneValue* registers,
                   LaneValue* dram) {
  LaneStop stop;
  for (std::size_t i = 0; i < num_steps; ++i) {
    const LaneStep execute = kSteps[steps[i].row];
    if (execute(steps[i].slots.data(), registers, dram, stop)) continue;
    stop.step = i;
    return stop;
  }
  stop.step = num_steps;
  return stop;
}

}  // namespace

extern const LaneRun kLaneRun;
const LaneRun kLaneRun = &run_steps;

}  // namespace flashlab::toy::detail::FLASHLAB_LANES
