// Where the steps of a run are in its loop nest. Loops do not depend on values, so that the step
// at which an instruction is executed is known without running the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::toy {

/// A point of a run: before this instruction at these loop values.
struct RunPoint {
  std::uint32_t site = 0;                 // number of instructions: the end of the run
  std::vector<std::int64_t> loop_values;  // by loop; valid for the loops around the instruction
};

/// Restricts the executions of an instruction to those in which the index has one of these values.
struct IndexWithin {
  const Affine* index = nullptr;
  std::int64_t low = 0, high = 0;  // both included
};

/// Numbers and finds the executions of instructions. The program must outlive it.
class NestSteps {
 public:
  explicit NestSteps(const BoundProgram& program);

  /// Returns the number of steps before the point: a product for each loop around it; a sum over the
  /// iterations of a loop on which the bounds of an inner loop depend.
  std::uint64_t steps_before(const RunPoint& point) const;
  /// Returns the number of steps of a run without errors; nothing if it is a sum over more than
  /// `kMostSummed` iterations (see steps_before).
  std::optional<std::uint64_t> total() const;
  static constexpr std::uint64_t kMostSummed = std::uint64_t{1} << 25;  // some tenths of a second

  /// Returns the last execution of the instruction before the point, or the first one after it, not
  /// counting the execution at the point itself. Loops are searched only where the indices can have
  /// the wanted values.
  std::optional<RunPoint> last_before(std::uint32_t site, const RunPoint& point,
                                      std::span<const IndexWithin> wanted = {}) const;
  std::optional<RunPoint> first_after(std::uint32_t site, const RunPoint& point,
                                      std::span<const IndexWithin> wanted = {}) const;

 private:
  using Values = std::vector<std::int64_t>;
  /// The iterations of one execution of a loop.
  struct Trips {
    std::int64_t first = 0, count = 0;
  };
  struct Sum {
    Values values;             // of the loops
    std::uint64_t summed = 0;  // iterations, at most one more than kMostSummed
    bool is_too_long() const { return summed > kMostSummed; }
  };
  Sum new_sum() const { return {Values(program_.loops.size(), 0)}; }
  Trips trips(std::uint32_t loop, const Values& values) const;
  std::uint64_t of_loop(std::uint32_t loop, Sum& sum) const;
  std::uint64_t of_iterations(std::uint32_t loop, const Trips& trips, Sum& sum) const;
  std::uint64_t of_nodes(std::uint32_t first, std::uint32_t last, Sum& sum) const;

  const BoundProgram& program_;
  std::vector<std::uint32_t> begin_;                            // by loop: its kLoopBegin node
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sites_;  // by loop: its instructions
  std::vector<bool> same_;  // by loop: whether all its iterations have the same number of steps
};

}  // namespace flashlab::toy
