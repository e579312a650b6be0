// Which steps of a run a trace shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::toy::detail {

/// A point of the run: a loop (the innermost one around it), and all loops' values.
struct LoopPoint {
  std::uint32_t innermost = kNoLoop;
  const std::int64_t* values = nullptr;
};

/// One iteration of a loop, and by that of the loops around it.
class LoopIteration {
 public:
  LoopIteration(const BoundProgram& program, std::uint32_t loop, const std::int64_t* values);
  bool contains(const BoundProgram& program, const LoopPoint& point) const;
  std::uint32_t loop() const { return loop_; }

 private:
  std::uint32_t loop_;
  std::vector<std::int64_t> values_;  // from the loop outwards
};

/// True when `loop` is `innermost` or a loop around it.
bool encloses(const BoundProgram& program, std::uint32_t loop, std::uint32_t innermost);

/// Finds the generic iterations of options.body: of each loop over that variable, in its first
/// execution, the second iteration (the first where there is no other).
class BodyFinder {
 public:
  BodyFinder(const BoundProgram& program, const TraceOptions& options);

  /// Loops over the variable; empty when there is none, or no body was asked for.
  const std::vector<std::uint32_t>& loops() const { return loops_; }

  struct Change {
    std::uint32_t ended = kNoLoop;
    std::uint32_t begun = kNoLoop;
  };
  /// The run is about to do something at this point, `next_step` or what comes before it.
  Change move_to(const LoopPoint& point, std::uint64_t next_step);
  /// True when move_to would end or begin an iteration.
  bool changes_at(const LoopPoint& point) const;
  bool active() const { return !iteration_.empty(); }
  std::uint32_t current() const { return active() ? iteration_.front().loop() : kNoLoop; }
  bool all_done() const { return !active() && pending_.empty(); }
  /// The first step of the loop whose iteration was found last.
  std::uint64_t loop_began() const { return loop_began_; }

 private:
  bool is_target(std::uint32_t loop, const std::int64_t* values) const;

  const BoundProgram& program_;
  std::vector<std::uint32_t> loops_;
  struct Pending {
    std::uint32_t loop = 0;
    std::uint64_t began = 0;  // the loop's first step; 0: not yet
  };
  std::vector<Pending> pending_;
  std::uint64_t loop_began_ = 0;
  std::vector<LoopIteration> iteration_;  // none or one
};

/// True when all loops around the point are in their first, second or last iteration. Loops outside
/// `within` (kNoLoop: none) are not asked.
bool survives_elision(const BoundProgram& program, const LoopPoint& point, std::uint32_t within);

}  // namespace flashlab::toy::detail
