// The inputs of one size in parallel lanes, so that one run of a submission covers them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/lanes.hpp"

namespace flashlab::exercises {

/// A cell of a checked output. The values that close_enough() accepts are an interval of floats. A
/// lane that expects NaN accepts no value.
struct ExpectedCell {
  std::int32_t element = 0;  // in DRAM
  toy::LaneValue low, high;  // both ends are accepted
};

/// Up to toy::kLanes inputs of one size in the DRAM of one program.
struct LaneCase {
  struct Array {
    std::string name;
    std::int32_t first = 0, size = 0;  // elements in `dram`
  };
  std::vector<Array> arrays;
  std::vector<toy::LaneValue> dram;    // before the first step; NaN: not written
  std::vector<ExpectedCell> expected;  // in the order of the program's arrays
  std::size_t first_case = 0;          // lane i holds case first_case + i of SizedCases::cases,
  std::size_t num_cases = 0;           // further lanes repeat these cases

  /// Returns the case in a lane.
  std::size_t case_of(std::size_t lane) const { return first_case + lane % num_cases; }
};

/// Places the cases into the DRAM of `bound`, toy::kLanes at a time. Matches arrays by name. Throws
/// std::runtime_error with the array's name if an input or an expected array does not fit.
std::vector<LaneCase> make_lane_cases(const SizedCases& cases, const toy::BoundProgram& bound,
                                      const Tolerance& tolerance);

/// Returns the same case for a program with another order of arrays, or with additional arrays.
/// Throws std::runtime_error with the name of an expected array that does not fit.
LaneCase lay_out(const LaneCase& lanes, const toy::BoundProgram& bound);

struct WrongCell {
  std::size_t expected = 0;  // into LaneCase::expected
  std::size_t lane = 0;
};

/// Returns the first cell that is wrong in some lane, and the first such lane.
std::optional<WrongCell> first_wrong(const LaneCase& lanes, std::span<const toy::LaneValue> dram);

}  // namespace flashlab::exercises
