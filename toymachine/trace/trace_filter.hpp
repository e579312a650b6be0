// Selects the steps of a run that a trace shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::toy::detail {

/// A point of the run: its innermost loop, and the values of all loops.
struct LoopPoint {
  std::uint32_t innermost = kNoLoop;
  const std::int64_t* values = nullptr;
};

/// One iteration of a loop, together with the iterations of the loops around it.
class LoopIteration {
 public:
  LoopIteration(const BoundProgram& program, std::uint32_t loop, const std::int64_t* values);
  bool contains(const BoundProgram& program, const LoopPoint& point) const;
  std::uint32_t loop() const { return loop_; }

 private:
  std::uint32_t loop_;
  std::vector<std::int64_t> values_;  // from the loop outwards
};

/// Whether `loop` is `innermost` or a loop around it.
bool encloses(const BoundProgram& program, std::uint32_t loop, std::uint32_t innermost);

/// Finds the generic iterations for options.body: in the first execution of each loop over that
/// variable, the second iteration, or the first if there is only one.
class BodyFinder {
 public:
  BodyFinder(const BoundProgram& program, const TraceOptions& options);

  /// The loops over the variable; empty if there are none or no body is requested.
  const std::vector<std::uint32_t>& loops() const { return loops_; }

  struct Change {
    std::uint32_t ended = kNoLoop;
    std::uint32_t begun = kNoLoop;
  };
  /// Moves to the run's next point, which is `next_step` or something before it.
  Change move_to(const LoopPoint& point, std::uint64_t next_step);
  /// Whether move_to would end or begin an iteration.
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

/// Whether all loops around the point are in their first, second or last iteration. Loops outside
/// `within` (kNoLoop: none) are not considered.
bool survives_elision(const BoundProgram& program, const LoopPoint& point, std::uint32_t within);

}  // namespace flashlab::toy::detail
