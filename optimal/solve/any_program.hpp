// Whether any program at all is cheaper: the judge of what the solver leaves out.
//
// The proofs of solve() are about programs that hold certain values only. This search knows no such
// values. It tries every instruction of a level on every choice of operands, and tells values apart
// by numbers: what they are at some random points. So it is exhaustive, but for two different
// functions that agree in 11 digits at all points; and slow.
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
  /// Leave out programs in which an exponent is positive at one of the points: safe softmax. The
  /// points have the inputs in ascending, descending and in mixed order.
  bool only_safe_exponents = false;
};

struct AnyAnswer {
  /// No program costs so much or less, unless one was found.
  std::int64_t excluded_cycles = -1;
  std::optional<std::string> program;  // for the toy machine; the cheapest
  std::uint64_t states = 0;            // visited, in all rounds
  double seconds = 0;
};

/// By iterative deepening, up to `most_cycles`, or until a limit is reached. A program may store
/// only results, each where it belongs, and load inputs and stored results. Left out are only
/// programs with an instruction whose result is not used, copies of registers (any register can be
/// a destination), and programs that overwrite a value while another register is free: each is as
/// dear as one that is tried, or dearer. A value that is not finite (-inf, too, which a quotient
/// can be), or too large for a float, ends a program. Errors: std::invalid_argument for levels with
/// constants, more than 8 registers, 9 inputs or 16 outputs, and instructions that cost nothing.
AnyAnswer any_program(const Computation& computation, const AnyMachine& machine,
                      std::int64_t most_cycles, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
