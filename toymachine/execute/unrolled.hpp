// A bound program as the straight-line code that the machine executes, for graders that run
// it many times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// One executed instruction.
struct UnrolledStep {
  std::uint32_t site = 0;  // into BoundProgram::instructions
  std::uint16_t row = 0;   // into instruction_set()
  /// By position: a register number (constants are numbered after the registers), a DRAM element,
  /// or the number itself (kOffset).
  std::array<std::int32_t, kMaxOperands> slots{};
};

struct UnrolledProgram {
  std::vector<UnrolledStep> steps;
  std::int32_t num_registers = 0;  // of the machine
  std::vector<double> constants;   // numbered after the registers
  std::int32_t dram_elements = 0;
};

/// Unrolls a program on scalars (every tile is 1 x 1). Errors as for run(): an index out of range;
/// Fault::kLimit beyond `max_steps`; Fault::kRequest if an element is a larger tile, or an array
/// has a narrow type.
Result<UnrolledProgram> unroll(const BoundProgram& program, std::uint64_t max_steps);

/// Returns the values of the loops, by loop, at a step (into UnrolledProgram::steps) of a program
/// that unrolls, for messages about that step. Takes as long as unrolling up to that step.
std::vector<std::int64_t> loop_values_at(const BoundProgram& program, std::size_t step);

}  // namespace flashlab::toy
