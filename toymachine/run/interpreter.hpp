// Runs a bound program on values: numbers, symbols, or both at once.
#pragma once

#include <span>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Executes the whole program on `dram` (BoundProgram::dram_elements cells, see initial_dram).
/// Errors name line, step and loop indices: reading a register or cell that was never written, an
/// index out of range, a result of +inf or NaN; Fault::kLimit before the first step if there are
/// more than Limits::max_steps. Memory: O(arrays + registers + program text).
Result<Execution> run(const BoundProgram& program, std::span<float> dram);
Result<Execution> run(const BoundProgram& program, std::span<double> dram);

/// Executes the program only on the shapes of its tiles: returns the executions and their
/// work. Errors: shapes that do not match, a register that was never written, an index out
/// of range, limits.
Result<Execution> run_shapes(const BoundProgram& program);

}  // namespace flashlab::toy

// The template for other value types and observers (traces) is in execute/interpret.hpp:
//   template <class Value, class Observer>
//   Result<Execution> interpret(const BoundProgram&, std::span<Value> dram, Observer&);
