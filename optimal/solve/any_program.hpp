// Searches for any cheaper program at all, to check what the solver leaves out.
//
// The proofs of solve() are about programs that hold only certain values. This search does not know
// these values. It tries every instruction of a level on every choice of operands, and
// distinguishes values by their numbers at some random points. It is therefore exhaustive, except
// for different functions that agree in 11 digits at all points; and it is slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "optimal/problem/computation.hpp"
#include "optimal/solve/solve.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::optimal {

struct AnyMachine {
  toy::Level level = toy::Level::kSoftmax;  // kMatmul or kSoftmax; operands are any registers
  int registers = 3;                        // at most 8
  toy::CostTable costs = {};
  /// Leaves out programs with a positive exponent at one of the points, as safe softmax does. The
  /// points have the inputs in ascending, descending and mixed order.
  bool only_safe_exponents = false;
};

struct AnyAnswer {
  /// No program costs this much or less.
  std::int64_t excluded_cycles = -1;
  std::optional<std::string> program;  // the cheapest, for the toy machine
  std::uint64_t states = 0;            // visited, in all rounds
  double seconds = 0;
};

/// Searches by iterative deepening up to `most_cycles`, or until a limit is reached. A program may
/// store only results, each in its cell, and may load inputs and stored results. The search leaves
/// out only programs that have an unused result, that copy a register (any register can be a
/// destination), or that overwrite a value while another register is free. Each of these costs at
/// least as much as one that is tried. The search gives up a program when a value is too large for
/// a float or not finite (a quotient can be -inf). Errors: std::invalid_argument for levels with
/// constants, more than 8 registers, 9 inputs or 16 outputs, and instructions that cost nothing.
AnyAnswer any_program(const Computation& computation, const AnyMachine& machine,
                      std::int64_t most_cycles, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
