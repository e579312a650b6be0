// A bound program as the straight line that the machine executes: what a grader runs many times
// over.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// One executed instruction.
struct UnrolledStep {
  std::uint32_t site = 0;  // into BoundProgram::instructions
  std::uint16_t row = 0;   // into instruction_set()
  /// By position: register number (constants count on from the registers), element in DRAM, or the
  /// number itself (kOffset).
  std::array<std::int32_t, kMaxOperands> slots{};
};

struct UnrolledProgram {
  std::vector<UnrolledStep> steps;
  std::int32_t num_registers = 0;  // of the machine
  std::vector<double> constants;   // behind the registers
  std::int32_t dram_elements = 0;
};

/// Unrolls a program on scalars (every tile is 1 x 1). Errors, as run() gives them: an index out of
/// range; Fault::kLimit beyond `max_steps`; Fault::kRequest when some element is a larger tile, or
/// an array is of a narrow type.
Result<UnrolledProgram> unroll(const BoundProgram& program, std::uint64_t max_steps);

/// The values of the loops, by loop, at a step of a program that unrolls (into
/// UnrolledProgram::steps): what a message about that step names. Costs as much as unrolling so
/// far.
std::vector<std::int64_t> loop_values_at(const BoundProgram& program, std::size_t step);

}  // namespace flashlab::toy
