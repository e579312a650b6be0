// The task of an exercise at one size, as input for the exact solver.
#pragma once

#include <cstdint>
#include <optional>

#include "exercises/grader/exercise/exercise.hpp"
#include "optimal/problem/computation.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// A computation, and the exercise's machine at that size.
struct Posed {
  optimal::Computation computation;
  std::int64_t registers = 0;
  toy::OperandRule operands = toy::OperandRule::kAny;
  std::optional<std::int64_t> most_loads;  // the exercise's maximum, all arrays together
  bool temporaries = false;                // whether values other than results may be stored
  /// For an algebra: cells of output arrays, which may hold other values before their results. 0 if
  /// the exercise accepts no more stores than there are results.
  std::int64_t scratch_cells = 0;
};

/// Builds the computation from the formulas of the exercise's own solution. It uses the solution's
/// arrays, so a witness of the solver is a valid submission. Errors: a solution that does not run
/// at this size, and those of optimal::stated_computation().
toy::Result<Posed> computation_of(const ProgramTask& task, const Size& size);

/// Returns the loads and stores that every program at this size needs: one load of each input cell
/// that a result depends on, one store of each result cell; a tile counts as one cell. Uses the
/// solution's formulas if there are any. Otherwise changes each cell and compares the results.
/// Throws std::runtime_error if the solution does not run.
optimal::Compulsory compulsory_of(const ProgramTask& task, const Size& size);

}  // namespace flashlab::exercises
