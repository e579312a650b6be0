// Runs a bound program on values: numbers, symbols, or both at once.
#pragma once

#include <span>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Executes the whole program on `dram` (BoundProgram::dram_elements cells, see initial_dram).
/// Errors name line, step and loop indices: a register or cell that nobody wrote is read, an index
/// out of range, +inf or NaN born; Fault::kLimit before the first step when there are more than
/// Limits::max_steps. Memory: O(arrays + registers + program text).
Result<Execution> run(const BoundProgram& program, std::span<float> dram);
Result<Execution> run(const BoundProgram& program, std::span<double> dram);

/// Executes the program on the shapes of its tiles alone: what was executed, and its work. Errors:
/// shapes that do not go together, a register that nobody wrote, an index out of range, limits.
Result<Execution> run_shapes(const BoundProgram& program);

}  // namespace flashlab::toy

// The template for other value types and observers (traces) is in
// execute/interpret.hpp:
//   template <class Value, class Observer>
//   Result<Execution> interpret(const BoundProgram&, std::span<Value> dram, Observer&);
