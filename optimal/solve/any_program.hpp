// Searches for any cheaper program at all, to check what the solver leaves out.
//
// The proofs of solve() are about programs that hold only certain values. This search does not know
// these values. It tries every instruction of a level on every choice of operands, and
// distinguishes values by what they evaluate to at some random points. It is therefore exhaustive,
// except for programs that compute with -inf, and for different functions that agree in 11 digits
// at all points; and it is slow.
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
  /// Leaves out programs in which an exponent is positive at one of the points. Safe softmax has no
  /// such exponent. The points have the inputs in ascending, descending and mixed order.
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
/// out programs that have an unused result, that copy a register (any register can be a
/// destination), or that overwrite a value while another register is free. Each of these costs at
/// least as much as one that is tried. The search also gives up a program as soon as a value is too
/// large for a float or not finite. The machine accepts -inf, but a program that goes on with a
/// quotient that is -inf is not tried. Errors: std::invalid_argument for levels with constants,
/// more than 8 registers, 9 inputs or 16 outputs, and instructions that cost nothing.
AnyAnswer any_program(const Computation& computation, const AnyMachine& machine,
                      std::int64_t most_cycles, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
