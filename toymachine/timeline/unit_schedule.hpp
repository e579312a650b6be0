// The schedule of one timing model (see timeline.hpp), made step by step in program order.
//
// The rules refer only to earlier steps, so each start is known at once: the latest of a few times
// that are kept for each unit and each buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "toymachine/run/interpreter.hpp"
#include "toymachine/timeline/timeline.hpp"

namespace flashlab::toy::detail {

/// The facts that a schedule needs about an instruction of the text.
struct SitePlan {
  Unit unit = Unit::kMemory;
  bool loads = false;  // from DRAM into a register
  std::uint8_t num_reads = 0;
  std::array<std::uint8_t, kMaxOperands> reads{};  // positions of registers
  std::uint8_t written = kMaxOperands;             // position of the register; kMaxOperands: none
  std::int64_t cycles = 0, per_work = 0;
};

class UnitSchedule {
 public:
  UnitSchedule(const BoundProgram& program, const TimelineOptions& options, std::size_t model)
      : options_(options), model_(model), buffers_(options.models[model].buffers) {
    timeline_.model = options.models[model];
    timeline_.sites.resize(program.instructions.size());
    if (!timeline_.model.overlap) return;
    const auto registers = static_cast<std::size_t>(program.num_registers);
    ready_.resize(registers);
    present_.resize(registers);
    last_use_.resize(registers * static_cast<std::size_t>(buffers_));
  }

  void add(const SitePlan& plan, const Step& step, std::int64_t duration) {
    Place place{static_cast<std::size_t>(plan.unit), step.number, step.instruction->site};
    std::int64_t& end = ends_[place.unit];
    if (timeline_.model.overlap) {
      add_overlapped(plan, step, duration, place);
    } else {
      spend(place.idle(), Cause::kIdle, ends_[1 - place.unit]);
      spend(place, Cause::kBusy, end + duration);
    }
  }

  /// Whether both units are past cycle `to`.
  bool passed(std::int64_t to) const { return std::min(ends_[0], ends_[1]) >= to; }

  Timeline finish() {
    timeline_.cycles = std::max(ends_[0], ends_[1]);
    for (const std::size_t unit : {0, 1}) {
      spend(Place{unit, 0, kNoSite}, Cause::kIdle, timeline_.cycles);
    }
    return std::move(timeline_);
  }

 private:
  struct Place {
    std::size_t unit;
    std::uint64_t step;
    std::uint32_t site;
    Place idle() const { return {unit, 0, kNoSite}; }
  };

  void add_overlapped(const SitePlan& plan, const Step& step, std::int64_t duration,
                      const Place& place) {
    std::int64_t data = 0;
    for (std::size_t i = 0; i < plan.num_reads; ++i) {
      data = std::max(data, ready_[register_at(step, plan.reads[i])]);
    }
    spend(place, Cause::kData, data);
    const bool writes = plan.written < kMaxOperands;
    const std::size_t target = writes ? register_at(step, plan.written) : 0;
    // The reads use the buffers from before the write, which may move on to the next one.
    std::array<std::size_t, kMaxOperands> read_buffers{};
    for (std::size_t i = 0; i < plan.num_reads; ++i) {
      read_buffers[i] = present_buffer(register_at(step, plan.reads[i]));
    }
    if (writes) {
      if (plan.loads) present_[target] = (present_[target] + 1) % static_cast<int>(buffers_);
      spend(place, Cause::kBuffer, last_use_[present_buffer(target)]);
    }
    const std::int64_t end = ends_[place.unit] + duration;
    spend(place, Cause::kBusy, end);
    for (std::size_t i = 0; i < plan.num_reads; ++i) use(read_buffers[i], end);
    if (!writes) return;
    use(present_buffer(target), end);
    ready_[target] = end;
  }

  static std::size_t register_at(const Step& step, std::size_t position) {
    return static_cast<std::size_t>(step.operands[position]);
  }
  std::size_t present_buffer(std::size_t number) const {
    return number * static_cast<std::size_t>(buffers_) + static_cast<std::size_t>(present_[number]);
  }
  void use(std::size_t buffer, std::int64_t until) {
    last_use_[buffer] = std::max(last_use_[buffer], until);
  }

  /// Assigns this cause to the unit's cycles up to `until`, if that is after its current end.
  void spend(const Place& place, Cause cause, std::int64_t until) {
    std::int64_t& end = ends_[place.unit];
    if (until <= end) return;
    const auto index = static_cast<std::size_t>(cause);
    timeline_.units[place.unit][index] += until - end;
    if (place.site != kNoSite) timeline_.sites[place.site][index] += until - end;
    if (end < options_.to && until > options_.from) record(place, cause, end, until);
    end = until;
  }

  void record(const Place& place, Cause cause, std::int64_t start, std::int64_t end) {
    const TimelineInterval interval{
        static_cast<Unit>(place.unit), cause, start, end, place.step, place.site};
    if (options_.sink) {
      options_.sink(model_, interval);
    } else if (timeline_.intervals.size() < options_.max_intervals) {
      timeline_.intervals.push_back(interval);
    } else {
      ++timeline_.intervals_left_out;
    }
  }

  const TimelineOptions& options_;
  std::size_t model_;
  std::int64_t buffers_;
  Timeline timeline_;
  std::array<std::int64_t, kNumUnits> ends_{};  // by unit: the end of its last instruction
  std::vector<std::int64_t> ready_;             // by register: when its value is there
  std::vector<int> present_;                    // by register: its current buffer
  std::vector<std::int64_t> last_use_;          // by register and buffer: end of its last use
};

}  // namespace flashlab::toy::detail
