// The schedule of one timing model (see timeline.hpp), made step by step in program order.
//
// The rules refer only to earlier steps, so each start is known at once: the latest of a few times
// that are kept for each unit and each buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
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
  // Of instructions that use a link, or a cell of an array that a link uses:
  std::uint8_t cell = kMaxOperands;  // position of the cell; kMaxOperands: none
  bool reads_cell = false, writes_cell = false;
  std::uint8_t other = kMaxOperands;  // position of the other machine; kMaxOperands: no link
  bool sends = false;
};

/// When the message in each link was sent, and when the last one was received, under one model.
class LinkTimes {
 public:
  struct Link {
    std::int64_t arrived = 0, received = 0;
  };
  Link& between(std::int64_t from, std::int64_t to) { return links_[{from, to}]; }

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, Link> links_;
};

class UnitSchedule {
 public:
  /// `links`: of the model, if there are several machines.
  UnitSchedule(const BoundProgram& program, const TimelineOptions& options, std::size_t model,
               LinkTimes* links = nullptr)
      : options_(options), model_(model), buffers_(options.models[model].buffers), links_(links) {
    if (program.machine) {
      rank_ = program.machine->rank;
      is_recorded_ = rank_ == options.machine;
    }
    timeline_.model = options.models[model];
    timeline_.sites.resize(program.instructions.size());
    if (!timeline_.model.overlap) return;
    const auto registers = static_cast<std::size_t>(program.num_registers);
    ready_.resize(registers);
    present_.resize(registers);
    last_use_.resize(registers * static_cast<std::size_t>(buffers_));
  }

  /// `is_shown`: its intervals are recorded as they are; otherwise they become parts of one.
  void add(const SitePlan& plan, const Step& step, std::int64_t duration, bool is_shown) {
    is_shown_ = is_shown;
    Place place{static_cast<std::size_t>(plan.unit), step.number, step.instruction->site};
    std::int64_t& end = ends_[place.unit];
    if (timeline_.model.overlap) {
      add_overlapped(plan, step, duration, place);
    } else {
      spend(place.idle(), Cause::kIdle, last_end());
      wait_for_message(plan, step, place);
      spend(place, Cause::kBusy, end + duration);
    }
    if (plan.other < kMaxOperands) pass_message(plan, step, end);
  }

  /// Whether the memory port and the compute unit are past cycle `to`.
  bool passed(std::int64_t to) const { return std::min(ends_[0], ends_[1]) >= to; }
  std::int64_t last_end() const { return *std::max_element(ends_.begin(), ends_.end()); }

  /// `cycles`: when the last machine has ended.
  Timeline finish(std::int64_t cycles) {
    is_shown_ = true;
    timeline_.end = last_end();
    timeline_.cycles = cycles;
    for (std::size_t unit = 0; unit < (links_ == nullptr ? 2 : kNumUnits); ++unit) {
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
    CellTimes* const cell = plan.cell < kMaxOperands ? &cells_[step.operands[plan.cell]] : nullptr;
    if (cell != nullptr && plan.reads_cell) data = std::max(data, cell->written);
    spend(place, Cause::kData, data);
    wait_for_message(plan, step, place);
    if (cell != nullptr && plan.writes_cell) spend(place, Cause::kBuffer, cell->used);
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
    if (cell != nullptr) {
      cell->used = std::max(cell->used, end);
      if (plan.writes_cell) cell->written = end;
    }
    if (!writes) return;
    use(present_buffer(target), end);
    ready_[target] = end;
  }

  struct CellTimes {
    std::int64_t written = 0, used = 0;  // ends of the last write, and of the last use
  };

  void wait_for_message(const SitePlan& plan, const Step& step, const Place& place) {
    if (plan.other >= kMaxOperands) return;
    const std::int64_t other = step.operands[plan.other];
    if (plan.sends) {
      spend(place, Cause::kBuffer, links_->between(rank_, other).received);
    } else {
      spend(place, Cause::kData, links_->between(other, rank_).arrived);
    }
  }

  void pass_message(const SitePlan& plan, const Step& step, std::int64_t end) {
    const std::int64_t other = step.operands[plan.other];
    if (plan.sends) {
      links_->between(rank_, other).arrived = end;
    } else {
      links_->between(other, rank_).received = end;
    }
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
    if (is_recorded_ && end < options_.to && until > options_.from)
      record(place, cause, end, until);
    end = until;
  }

  void record(const Place& place, Cause cause, std::int64_t start, std::int64_t end) {
    const TimelineInterval interval{
        static_cast<Unit>(place.unit), cause, start, end, place.step, place.site};
    if (options_.sink) return options_.sink(model_, interval);
    if (is_shown_) {
      gaps_[place.unit] = kNoGap;
      return keep(interval);
    }
    const std::uint64_t steps = cause == Cause::kBusy ? 1 : 0;
    std::size_t& gap = gaps_[place.unit];
    if (gap == kNoGap) {
      gap = timeline_.intervals.size();
      return keep({interval.unit, Cause::kIdle, start, end, 0, kNoSite, true, steps});
    }
    if (gap == timeline_.intervals.size()) return;  // it was left out
    timeline_.intervals[gap].end = end;
    timeline_.intervals[gap].num_elided += steps;
  }

  void keep(const TimelineInterval& interval) {
    if (timeline_.intervals.size() < options_.max_intervals) {
      timeline_.intervals.push_back(interval);
    } else {
      ++timeline_.intervals_left_out;
    }
  }

  const TimelineOptions& options_;
  std::size_t model_;
  std::int64_t buffers_;
  LinkTimes* links_;
  std::int64_t rank_ = 0;
  bool is_recorded_ = true;
  Timeline timeline_;
  bool is_shown_ = true;
  static constexpr std::size_t kNoGap = SIZE_MAX;
  /// By unit: the interval at its end that stands for steps.
  std::array<std::size_t, kNumUnits> gaps_{kNoGap, kNoGap, kNoGap};
  std::array<std::int64_t, kNumUnits> ends_{};  // by unit: the end of its last instruction
  std::vector<std::int64_t> ready_;             // by register: when its value is there
  std::vector<int> present_;                    // by register: its current buffer
  std::vector<std::int64_t> last_use_;          // by register and buffer: end of its last use
  std::unordered_map<std::int64_t, CellTimes> cells_;  // by first element; those that links use
};

}  // namespace flashlab::toy::detail
