#include "toymachine/timeline/timeline.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "toymachine/bind/elision.hpp"
#include "toymachine/count/step_limit.hpp"
#include "toymachine/execute/execute_tile.hpp"
#include "toymachine/execute/interpret.hpp"
#include "toymachine/links/interpret_machines.hpp"
#include "toymachine/timeline/unit_schedule.hpp"

namespace flashlab::toy {
namespace {

using detail::LinkTimes;
using detail::NoCell;
using detail::Shape;
using detail::SitePlan;
using detail::UnitSchedule;

/// Returns by array whether a link reads or writes its cells.
std::vector<char> arrays_of_links(const BoundProgram& program) {
  std::vector<char> used(program.arrays.size(), 0);
  for (const BoundInstruction& instruction : program.instructions) {
    if (!instruction_set()[instruction.row].is_link()) continue;
    for (const BoundOperand& operand : instruction.operands) {
      if (is_memory(operand.kind)) used[operand.array] = 1;
    }
  }
  return used;
}

SitePlan plan_of(const BoundInstruction& instruction, const CostTable& costs,
                 const std::vector<char>& link_arrays) {
  const InstructionSpec& spec = instruction_set()[instruction.row];
  SitePlan plan;
  plan.unit = unit_of(spec);
  for (std::uint8_t i = 0; i < spec.num_operands; ++i) {
    if (is_register_read(instruction.operands[i].kind)) plan.reads[plan.num_reads++] = i;
    if (spec.operands[i] == OperandKind::kDestination) plan.written = i;
    if (is_machine(spec.operands[i])) plan.other = i;
    if (!is_memory(spec.operands[i]) || !link_arrays[instruction.operands[i].array]) continue;
    plan.cell = i;
    plan.reads_cell = is_read(spec.operands[i]);
    plan.writes_cell = is_memory_write(spec.operands[i]);
  }
  plan.sends = spec.is_send();
  plan.loads = spec.is_load() && plan.written < kMaxOperands;
  plan.cycles = costs.cycles(instruction.row);
  plan.per_work = costs.per_work(instruction.row);
  return plan;
}

/// What the machines of a run share.
struct SharedTimes {
  std::vector<LinkTimes> links;  // by model
  std::int64_t sum = 0;          // cycles of all instructions
  bool overflow = false;
};

/// Feeds every step of one machine to the schedules of all models.
class Timing {
 public:
  static constexpr bool kPerStep = true;

  Timing(const BoundProgram& program, const TimelineOptions& options, SharedTimes& shared)
      : program_(program), options_(options), shared_(shared), is_alone_(!program.machine) {
    const std::vector<char> link_arrays = arrays_of_links(program);
    for (const BoundInstruction& instruction : program.instructions) {
      plans_.push_back(plan_of(instruction, options.costs, link_arrays));
    }
    shared.links.resize(options.models.size());
    for (std::size_t i = 0; i < options.models.size(); ++i) {
      schedules_.emplace_back(program, options, i, is_alone_ ? nullptr : &shared.links[i]);
    }
  }

  bool after(const Step& step, std::span<Shape>, std::span<NoCell>) {
    const SitePlan& plan = plans_[step.instruction->site];
    // No model takes longer than the plain sum of all machines, so if it fits, everything fits.
    std::int64_t duration = 0;
    shared_.overflow = __builtin_mul_overflow(plan.per_work, step.work, &duration) ||
                       __builtin_add_overflow(duration, plan.cycles, &duration) ||
                       __builtin_add_overflow(shared_.sum, duration, &shared_.sum);
    if (shared_.overflow) return false;
    const bool is_shown =
        !options_.elide || survives_elision(program_, step.instruction->loop, step.loop_values);
    bool passed = options_.window_only && is_alone_;
    for (UnitSchedule& schedule : schedules_) {
      schedule.add(plan, step, duration, is_shown);
      passed = passed && schedule.passed(options_.to);
    }
    return !passed;
  }
  void label(const BoundLabel&, std::int64_t, const std::int64_t*, std::span<Shape>) {}

  std::int64_t last_end(std::size_t model) const { return schedules_[model].last_end(); }
  /// `cycles`: by model, when the last machine has ended.
  std::vector<Timeline> finish(const std::vector<std::int64_t>& cycles) {
    std::vector<Timeline> timelines;
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      timelines.push_back(schedules_[i].finish(cycles[i]));
    }
    return timelines;
  }

 private:
  const BoundProgram& program_;
  const TimelineOptions& options_;
  SharedTimes& shared_;
  bool is_alone_;
  std::vector<SitePlan> plans_;  // by site
  std::vector<UnitSchedule> schedules_;
};

Diagnostic error(Fault fault, std::string what, std::string expected) {
  return {Severity::kError, fault, {}, std::move(what), std::move(expected), {}};
}

std::optional<Diagnostic> models_error(const TimelineOptions& options) {
  for (const TimelineModel& model : options.models) {
    if (model.overlap && (model.buffers < 1 || model.buffers > kMaxBuffers)) {
      return error(Fault::kRequest, std::to_string(model.buffers) + " buffers for every register",
                   "1 to " + std::to_string(kMaxBuffers));
    }
  }
  return std::nullopt;
}

/// Runs the machines, one or several, and times them.
Result<std::vector<std::vector<Timeline>>> time_machines(std::span<const BoundProgram> programs,
                                                         const TimelineOptions& options) {
  if (auto wrong = models_error(options)) return std::move(*wrong);
  if (auto too_many = detail::too_many_steps(programs)) return std::move(*too_many);
  SharedTimes shared;
  std::vector<Timing> timings;
  shared.links.resize(options.models.size());
  for (const BoundProgram& program : programs) timings.emplace_back(program, options, shared);
  const std::vector<std::span<NoCell>> drams(programs.size());
  auto execution =
      programs.size() == 1 && !programs.front().machine
          ? detail::interpret<Shape>(programs.front(), drams.front(), timings.front())
          : detail::MachinesRun<Shape, Timing>(programs, drams, std::span(timings)).run();
  if (!execution) return std::move(execution.diagnostics);
  if (shared.overflow) {
    return error(Fault::kLimit, "the program takes more cycles than 64 bits can count",
                 "at most 2^63 - 1 cycles: smaller costs");
  }
  std::vector<std::int64_t> cycles(options.models.size(), 0);
  for (std::size_t model = 0; model < cycles.size(); ++model) {
    for (const Timing& timing : timings) {
      cycles[model] = std::max(cycles[model], timing.last_end(model));
    }
  }
  std::vector<std::vector<Timeline>> all;
  for (Timing& timing : timings) all.push_back(timing.finish(cycles));
  return all;
}

}  // namespace

Result<std::vector<Timeline>> simulate(const BoundProgram& program,
                                       const TimelineOptions& options) {
  auto all = time_machines({&program, 1}, options);
  if (!all) return std::move(all.diagnostics);
  return std::move(all->front());
}

Result<std::vector<std::vector<Timeline>>> simulate_machines(const Machines& machines,
                                                             const TimelineOptions& options) {
  return time_machines(machines.programs, options);
}

}  // namespace flashlab::toy
