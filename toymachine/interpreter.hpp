// Runs a bound program on values: numbers, symbols, or both at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "toymachine/counters.hpp"
#include "toymachine/loop_nest.hpp"
#include "toymachine/source.hpp"

namespace flashlab::toy {

/// One executed instruction, as an observer sees it. Valid during the call only.
struct Step {
  std::uint64_t number = 0;  // from 1
  const BoundInstruction* instruction = nullptr;
  const std::int64_t* loop_values = nullptr;  // by loop; only the enclosing ones mean anything
  std::array<std::int64_t, kMaxOperands> operands{};  // register number, or element in DRAM
  std::int64_t work = 1;                              // when elements are tiles; see Executions
};

/// What a run leaves beside the DRAM.
struct Execution {
  Executions executions;
  std::uint64_t steps = 0;
  bool stopped = false;  // an observer ended the run early
};

/// Watches nothing and costs nothing. An observer with kPerStep has
///   bool after(const Step&, std::span<Value> registers, std::span<Value> dram);  // false: stop
///   void label(const BoundLabel&, std::int64_t register_number, const std::int64_t* loop_values,
///              std::span<Value> registers);
struct NoObserver {
  static constexpr bool kPerStep = false;
};

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

// The template for other value types and observers (traces) is in detail/interpret.hpp:
//   template <class Value, class Observer>
//   Result<Execution> interpret(const BoundProgram&, std::span<Value> dram, Observer&);
