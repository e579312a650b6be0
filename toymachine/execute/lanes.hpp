// Runs a program on many inputs in one pass: a value is a row of lanes, with one lane per input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "toymachine/execute/unrolled.hpp"

namespace flashlab::toy {

inline constexpr std::size_t kLanes = 16;

/// The contents of a register or cell in every lane. NaN: never written.
struct alignas(64) LaneValue {
  float lane[kLanes];
};

/// The step at which a lane failed.
struct LaneFault {
  std::size_t step = 0;    // into UnrolledProgram::steps
  std::size_t lane = 0;    // the first one
  bool unwritten = false;  // read an unwritten value; otherwise: gave +inf or NaN
};

/// Executes the steps up to the first fault, each lane bit for bit as run() on floats. `dram` has
/// UnrolledProgram::dram_elements values; `registers` is scratch space that is resized as needed.
std::optional<LaneFault> run_lanes(const UnrolledProgram& program, std::span<LaneValue> dram,
                                   std::vector<LaneValue>& registers);

/// Returns "baseline", "avx2" or "avx512": the build of the lane and tile kernels in use.
std::string_view instruction_set_in_use();

}  // namespace flashlab::toy
