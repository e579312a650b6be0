// Judges a program step by step: the cost of the cheapest completion after each step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimal/problem/computation.hpp"
#include "optimal/problem/remainder.hpp"
#include "optimal/solve/solve.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::optimal {

struct AlongMachine {
  int registers = 3;
  toy::OperandRule operand_rule = toy::OperandRule::kAny;
  bool allow_spills = false;  // for a product's partial sums
  toy::CostTable costs = {};
};

struct AlongStep {
  std::uint32_t site = 0;        // into BoundProgram::instructions
  std::int64_t cycles = 0;       // of the program so far, including this step
  Remainder remaining;           // from here on
  std::int64_t lost_cycles = 0;  // increase of the proved total by this step
  /// Whether the proved total fell. If it did, the proofs do not cover this instruction.
  bool is_outside = false;

  /// Empty if no completion exists.
  std::optional<std::int64_t> total() const {
    if (!remaining.is_possible) return std::nullopt;
    return cycles + remaining.cycles;
  }
};

struct Along {
  Remainder optimum;  // of the whole computation on the machine
  std::vector<AlongStep> steps;
  bool is_finished = false;  // whether the program leaves every output in its cell

  /// Returns the number of steps before the first one that is proved to miss the optimum; all steps
  /// if none misses it. Returns nothing if a search ended too early to prove this number, or if no
  /// program exists.
  std::optional<std::size_t> still_optimal() const;
};

/// Judges what a program did, step by step, even if it does not compute every output. The content
/// of a register or cell is identified by its exact formula (toymachine/forms/normal_form.hpp). If
/// no value of the computation has this formula, the content is useless. A completion consists of
/// the instructions that solve()'s programs have. The time limit is for all steps together; a step
/// whose search does not end has a lower bound. Errors, with their place: arrays that are not the
/// computation's; a run that fails before its end; if spills are not allowed, a load of a value
/// that the program stored itself (except results); more than 10'000 steps, of fault kLimit. Throws
/// std::invalid_argument like count_programs().
toy::Result<Along> judge_along(const Computation& computation, const AlongMachine& machine,
                               const toy::BoundProgram& program, const SolveLimits& limits = {});

}  // namespace flashlab::optimal
