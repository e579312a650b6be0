// What an exercise asks for at one size, as the exact solver takes it.
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
  std::optional<std::int64_t> most_loads;  // that the exercise accepts, of all arrays together
  bool temporaries = false;                // may values be stored beside the results?
  /// Of an algebra: cells of output arrays, which a program may use for other values before it
  /// stores its results; 0 where the exercise accepts no more stores than there are results.
  std::int64_t scratch_cells = 0;
};

/// From the formulas of the exercise's own solution, whose arrays are the frame's: a witness of the
/// solver is a submission. Errors: a solution that does not run at this size, and those of
/// optimal::stated_computation().
toy::Result<Posed> computation_of(const ProgramTask& task, const Size& size);

/// What no program at this size can do without: each input cell that a result depends on is loaded
/// once, each cell of a result stored once; tiles count as one. By formulas where the solution has
/// some, otherwise by what the results do when a cell changes. Throws std::runtime_error when the
/// solution does not run.
optimal::Compulsory compulsory_of(const ProgramTask& task, const Size& size);

}  // namespace flashlab::exercises
