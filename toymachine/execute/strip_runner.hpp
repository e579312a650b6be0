// Executes a StripPlan with the lane kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/lane_kernels.hpp"
#include "toymachine/execute/strip_plan.hpp"
#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {

/// One loop of a program, ready to run in strips. All memory is allocated on construction.
template <class Value>
class StripRunner {
 public:
  static constexpr std::size_t kStrip = 512;  // lanes; a dozen rows stay in the first-level cache

  StripRunner(const BoundProgram& program, StripPlan plan) : plan_(std::move(plan)) {
    rows_.resize((plan_.body.size() + plan_.invariants.size()) * kPitch);
    for (const StripInstruction& entry : plan_.body) prepare(program, entry);
    for (const auto& group : plan_.groups) find_ring(program, group);
  }
  StripRunner(StripRunner&&) noexcept = default;  // the rows keep their addresses
  StripRunner(const StripRunner&) = delete;

  /// Runs up to `trips` iterations and returns how many it finished. Registers and DRAM are as
  /// after the last of them. If it returns fewer, the next strip contains a step that is an error.
  /// cells[i], strides[i]: the first cell of body instruction i and its distance from lane to lane.
  /// `accepts(lanes)` may refuse a computed strip, which then has no effect either.
  template <class Accepts>
  std::int64_t run(std::int64_t trips, Value* registers, Value* dram, const std::int64_t* cells,
                   const std::int64_t* strides, Accepts&& accepts) {
    if (!enter(trips, registers)) return 0;
    std::int64_t done = 0;
    while (done < trips) {
      const auto n = static_cast<std::size_t>(
          std::min<std::int64_t>(trips - done, static_cast<std::int64_t>(kStrip)));
      if (!compute(n, done, dram, cells, strides) || !accepts(n)) break;
      store(n, done, dram, cells, strides);
      leave(n, registers);
      done += static_cast<std::int64_t>(n);
      check_budget(static_cast<std::int64_t>(plan_.body.size()) * kWorkOfRow);
    }
    return done;
  }

  const StripPlan& plan() const { return plan_; }
  /// The results of an instruction of the body in the strip that was computed last.
  const Value* results(std::size_t index) const { return rows_.data() + index * kPitch + kLead; }

 private:
  static constexpr std::size_t kLead = 16;  // room for lane -1; keeps rows aligned
  static constexpr std::size_t kPitch = kStrip + kLead;
  static constexpr std::int64_t kWorkOfRow = 16;  // in units of check_budget

  struct Prepared {
    LaneKernel<Value> parallel = nullptr;
    ChainKernel<Value> chain = nullptr;  // if the instruction reads its own previous lane
    std::array<const Value*, kMaxReads> in{};
    Value* out = nullptr;
  };
  struct Ring {
    RingKernel<Value> kernel = nullptr;
    std::array<const Value*, 2 * kMaxReads> in{};
  };

  Value* row(std::size_t index) { return rows_.data() + index * kPitch + kLead; }

  const Value* lanes(const LaneSource& source) {
    switch (source.kind) {
      case LaneSource::Kind::kSameLane:
        return row(source.index);
      case LaneSource::Kind::kPreviousLane:
        return row(source.index) - 1;
      case LaneSource::Kind::kInvariant:
        break;
    }
    return row(plan_.body.size() + source.index);
  }

  void prepare(const BoundProgram& program, const StripInstruction& entry) {
    const std::size_t index = prepared_.size();
    const std::size_t table_row = program.instructions[entry.instruction].row;
    Prepared prepared;
    prepared.out = row(index);
    prepared.parallel = lane_kernels<Value>().parallel[table_row];
    for (std::size_t i = 0; i < entry.reads.size(); ++i) {
      prepared.in[i] = lanes(entry.reads[i]);
      const bool own =
          entry.reads[i].kind == LaneSource::Kind::kPreviousLane && entry.reads[i].index == index;
      if (own) prepared.chain = lane_kernels<Value>().chain[table_row][i];
    }
    prepared_.push_back(prepared);
  }

  /// A group of two that read each other exactly once has a special kernel.
  void find_ring(const BoundProgram& program, const std::vector<std::uint32_t>& group) {
    rings_.emplace_back();
    if (group.size() != 2) return;
    std::array<std::size_t, 2> position{};
    for (std::size_t side = 0; side < 2; ++side) {
      int inside = 0;
      const auto& reads = plan_.body[group[side]].reads;
      for (std::size_t i = 0; i < reads.size(); ++i) {
        const LaneSource& read = reads[i];
        if (read.kind == LaneSource::Kind::kInvariant) continue;
        if (read.index == group[side]) return;
        if (read.index != group[1 - side]) continue;
        const auto expected =
            side == 0 ? LaneSource::Kind::kPreviousLane : LaneSource::Kind::kSameLane;
        if (read.kind != expected) return;
        position[side] = i;
        ++inside;
      }
      if (inside != 1) return;
    }
    Ring& ring = rings_.back();
    ring.kernel =
        ring_kernel<Value>(program.instructions[plan_.body[group[0]].instruction].row, position[0],
                           program.instructions[plan_.body[group[1]].instruction].row, position[1]);
    for (std::size_t i = 0; i < kMaxReads; ++i) {
      ring.in[i] = prepared_[group[0]].in[i];
      ring.in[kMaxReads + i] = prepared_[group[1]].in[i];
    }
  }

  /// Fills invariant rows and carried values; returns false if one of them was never written.
  bool enter(std::int64_t trips, const Value* registers) {
    const auto n =
        static_cast<std::size_t>(std::min<std::int64_t>(trips, static_cast<std::int64_t>(kStrip)));
    for (std::size_t i = 0; i < plan_.invariants.size(); ++i) {
      const Value value = registers[plan_.invariants[i]];
      if (!ValueTraits<Value>::is_written(value)) return false;
      std::fill_n(row(plan_.body.size() + i), n, value);
    }
    for (const StripPlan::Written& written : plan_.written) {
      if (!written.carried) continue;
      const Value value = registers[written.reg];
      if (!ValueTraits<Value>::is_written(value)) return false;
      row(written.writer)[-1] = value;
    }
    return true;
  }

  void leave(std::size_t n, Value* registers) {
    for (const StripPlan::Written& written : plan_.written) {
      Value* lanes = row(written.writer);
      registers[written.reg] = lanes[n - 1];
      lanes[-1] = lanes[n - 1];
    }
  }

  /// Computes everything but the stores.
  bool compute(std::size_t n, std::int64_t done, const Value* dram, const std::int64_t* cells,
               const std::int64_t* strides) {
    for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
      const auto& group = plan_.groups[g];
      const std::uint32_t first = group[0];
      bool legal = false;
      if (plan_.body[first].is_load) {
        legal = gather(first, dram + cells[first] + done * strides[first], strides[first], n);
      } else if (group.size() == 1) {
        Prepared& p = prepared_[first];
        legal = p.chain ? p.chain(p.out, p.in.data(), n) : p.parallel(p.out, p.in.data(), n);
      } else if (rings_[g].kernel) {
        legal =
            rings_[g].kernel(prepared_[first].out, prepared_[group[1]].out, rings_[g].in.data(), n);
      } else {
        legal = lane_by_lane(group, n);
      }
      if (!legal) return false;
    }
    return true;
  }

  void store(std::size_t n, std::int64_t done, Value* dram, const std::int64_t* cells,
             const std::int64_t* strides) {
    for (const std::uint32_t store : plan_.stores) {
      scatter(store, dram + cells[store] + done * strides[store], strides[store], n);
    }
  }

  bool gather(std::uint32_t index, const Value* from, std::int64_t stride, std::size_t n) {
    Prepared& p = prepared_[index];
    if (stride == 1) {
      const std::array<const Value*, kMaxReads> in{from};
      return p.parallel(p.out, in.data(), n);
    }
    bool legal = true;
    for (std::size_t t = 0; t < n; ++t) {
      p.out[t] = from[static_cast<std::int64_t>(t) * stride];
      legal &= ValueTraits<Value>::is_legal(p.out[t]);
    }
    return legal;
  }

  void scatter(std::uint32_t index, Value* to, std::int64_t stride, std::size_t n) {
    const Value* from = prepared_[index].in[0];
    if (stride == 1) {
      std::copy_n(from, n, to);
      return;
    }
    for (std::size_t t = 0; t < n; ++t) to[static_cast<std::int64_t>(t) * stride] = from[t];
  }

  bool lane_by_lane(const std::vector<std::uint32_t>& group, std::size_t n) {
    bool legal = true;
    for (std::size_t t = 0; t < n; ++t) {
      for (const std::uint32_t index : group) {
        const Prepared& p = prepared_[index];
        std::array<const Value*, kMaxReads> in{};
        for (std::size_t i = 0; i < kMaxReads; ++i) in[i] = p.in[i] ? p.in[i] + t : nullptr;
        legal &= p.parallel(p.out + t, in.data(), 1);
      }
    }
    return legal;
  }

  StripPlan plan_;
  std::vector<Value> rows_;
  std::vector<Prepared> prepared_;
  std::vector<Ring> rings_;  // by group
};

}  // namespace flashlab::toy::detail
