#include "toymachine/timeline/timeline.hpp"

#include <optional>
#include <utility>

#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/timeline/unit_schedule.hpp"

namespace flashlab::toy {
namespace {

using detail::NoCell;
using detail::Shape;
using detail::SitePlan;
using detail::UnitSchedule;

SitePlan plan_of(const BoundInstruction& instruction, const CostTable& costs) {
  const InstructionSpec& spec = instruction_set()[instruction.row];
  SitePlan plan;
  plan.unit = unit_of(spec);
  for (std::uint8_t i = 0; i < spec.num_operands; ++i) {
    if (is_register_read(spec.operands[i])) plan.reads[plan.num_reads++] = i;
    if (spec.operands[i] == OperandKind::kDestination) plan.written = i;
  }
  plan.loads = spec.is_load() && plan.written < kMaxOperands;
  plan.cycles = costs.cycles(instruction.row);
  plan.per_work = costs.per_work(instruction.row);
  return plan;
}

/// Feeds every step to the schedules of all models.
class Timing {
 public:
  static constexpr bool kPerStep = true;

  Timing(const BoundProgram& program, const TimelineOptions& options) : options_(options) {
    for (const BoundInstruction& instruction : program.instructions) {
      plans_.push_back(plan_of(instruction, options.costs));
    }
    for (std::size_t i = 0; i < options.models.size(); ++i) {
      schedules_.emplace_back(program, options, i);
    }
  }

  bool after(const Step& step, std::span<Shape>, std::span<NoCell>) {
    const SitePlan& plan = plans_[step.instruction->site];
    // No model takes longer than the plain sum, so if the sum fits, everything fits.
    std::int64_t duration = 0;
    overflow_ = __builtin_mul_overflow(plan.per_work, step.work, &duration) ||
                __builtin_add_overflow(duration, plan.cycles, &duration) ||
                __builtin_add_overflow(sum_, duration, &sum_);
    if (overflow_) return false;
    bool passed = options_.window_only;
    for (UnitSchedule& schedule : schedules_) {
      schedule.add(plan, step, duration);
      passed = passed && schedule.passed(options_.to);
    }
    return !passed;
  }
  void label(const BoundLabel&, std::int64_t, const std::int64_t*, std::span<Shape>) {}

  bool overflow() const { return overflow_; }
  std::vector<Timeline> finish() {
    std::vector<Timeline> timelines;
    for (UnitSchedule& schedule : schedules_) timelines.push_back(schedule.finish());
    return timelines;
  }

 private:
  const TimelineOptions& options_;
  std::vector<SitePlan> plans_;  // by site
  std::vector<UnitSchedule> schedules_;
  std::int64_t sum_ = 0;
  bool overflow_ = false;
};

Diagnostic error(Fault fault, std::string what, std::string expected) {
  return {Severity::kError, fault, {}, std::move(what), std::move(expected), {}};
}

}  // namespace

Result<std::vector<Timeline>> simulate(const BoundProgram& program,
                                       const TimelineOptions& options) {
  for (const TimelineModel& model : options.models) {
    if (model.overlap && (model.buffers < 1 || model.buffers > kMaxBuffers)) {
      return error(Fault::kRequest, std::to_string(model.buffers) + " buffers for every register",
                   "1 to " + std::to_string(kMaxBuffers));
    }
  }
  if (auto too_many = detail::too_many_steps(program)) return std::move(*too_many);
  Timing timing(program, options);
  auto execution = detail::interpret<Shape>(program, std::span<NoCell>(), timing);
  if (!execution) return std::move(execution.diagnostics);
  if (timing.overflow()) {
    return error(Fault::kLimit, "the program takes more cycles than 64 bits can count",
                 "at most 2^63 - 1 cycles: smaller costs");
  }
  return timing.finish();
}

}  // namespace flashlab::toy
