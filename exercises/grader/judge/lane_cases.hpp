// The inputs of one size side by side, so that a submission runs once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/lanes.hpp"

namespace flashlab::exercises {

/// A checked output's cell. What close_enough() accepts is an interval of floats; a lane that
/// expects NaN accepts nothing.
struct ExpectedCell {
  std::int32_t element = 0;  // in DRAM
  toy::LaneValue low, high;  // both ends are right
};

/// Up to toy::kLanes inputs of one size in the DRAM of one program.
struct LaneCase {
  struct Array {
    std::string name;
    std::int32_t first = 0, size = 0;  // elements in `dram`
  };
  std::vector<Array> arrays;
  std::vector<toy::LaneValue> dram;    // before the first step; NaN: nobody wrote it
  std::vector<ExpectedCell> expected;  // in the order of the program's arrays
  std::size_t first_case = 0;          // lane i holds case first_case + i of SizedCases::cases,
  std::size_t num_cases = 0;           // lanes from here on repeat them

  /// The case that the lane holds.
  std::size_t case_of(std::size_t lane) const { return first_case + lane % num_cases; }
};

/// The cases in the DRAM of `bound`, toy::kLanes at a time. Arrays are matched by name. Throws
/// std::runtime_error naming the array when an input, or an expected array, does not fit.
std::vector<LaneCase> make_lane_cases(const SizedCases& cases, const toy::BoundProgram& bound,
                                      double tolerance);

/// The same case for a program that declares its arrays in another order, or others beside them.
/// Throws std::runtime_error naming an expected array that does not fit.
LaneCase lay_out(const LaneCase& lanes, const toy::BoundProgram& bound);

struct WrongCell {
  std::size_t expected = 0;  // into LaneCase::expected
  std::size_t lane = 0;
};

/// The first cell that is wrong in some lane, and the first such lane.
std::optional<WrongCell> first_wrong(const LaneCase& lanes, std::span<const toy::LaneValue> dram);

}  // namespace flashlab::exercises
