// One pass over a program for many inputs at once: a value is a row of lanes, a lane an input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "toymachine/execute/unrolled.hpp"

namespace flashlab::toy {

inline constexpr std::size_t kLanes = 16;

/// What a register or cell holds in every lane. NaN: nobody wrote it.
struct alignas(64) LaneValue {
  float lane[kLanes];
};

/// The step at which some lane went wrong.
struct LaneFault {
  std::size_t step = 0;    // into UnrolledProgram::steps
  std::size_t lane = 0;    // the first one
  bool unwritten = false;  // read what nobody wrote; otherwise +inf or NaN was born
};

/// Executes the steps, each lane as run() on floats would, bit for bit, up to the first fault.
/// `dram` has UnrolledProgram::dram_elements values; `registers` is scratch that is made to fit.
std::optional<LaneFault> run_lanes(const UnrolledProgram& program, std::span<LaneValue> dram,
                                   std::vector<LaneValue>& registers);

/// "baseline", "avx2" or "avx512": which build of the kernels of lanes and tiles runs here.
std::string_view instruction_set_in_use();

}  // namespace flashlab::toy
