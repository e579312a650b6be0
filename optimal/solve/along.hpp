// A program judged step by step: what the cheapest completion from each step costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimal/problem/computation.hpp"
#include "optimal/problem/remainder.hpp"
#include "optimal/solve/solve.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::optimal {

struct AlongMachine {
  int registers = 3;
  toy::OperandRule operand_rule = toy::OperandRule::kAny;
  bool allow_spills = false;  // of a product's partial sums
  toy::CostTable costs = {};
};

struct AlongStep {
  std::uint32_t site = 0;        // into BoundProgram::instructions
  std::int64_t cycles = 0;       // of the program so far, this step's too
  Remainder remaining;           // from here
  std::int64_t lost_cycles = 0;  // by how much the proved total rose with this step
  /// The total fell: the instruction is one that the proofs leave out.
  bool is_outside = false;

  /// Nothing where no completion exists.
  std::optional<std::int64_t> total() const {
    if (!remaining.is_possible) return std::nullopt;
    return cycles + remaining.cycles;
  }
};

struct Along {
  Remainder optimum;  // of the whole computation on that machine
  std::vector<AlongStep> steps;
  bool is_finished = false;  // the program leaves every output in its cell

  /// The number of steps after which the optimum can still be reached; nothing where that is not
  /// proved of the first of the others, or no program exists.
  std::optional<std::size_t> still_optimal() const;
};

/// Judges what a program did, step by step, whatever it is short of. A register or cell holds the
/// value of the computation that its exact formula is (toymachine/forms/normal_form.hpp), or
/// nothing of use. A completion is made of the instructions that solve()'s programs are made of.
/// The limits' time is for all steps together; a step whose search does not end has a lower bound.
/// Errors, with their place: arrays other than the computation's, a run that fails before its end,
/// a load of what the program stored itself (but for results) where no spills are allowed; kLimit
/// beyond 10'000 steps. std::invalid_argument as count_programs() gives it.
toy::Result<Along> judge_along(const Computation& computation, const AlongMachine& machine,
                               const toy::BoundProgram& program, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
