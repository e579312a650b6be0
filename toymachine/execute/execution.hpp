// The steps of a run as an observer sees them, and how often each instruction was executed.
#pragma once

#include <gmpxx.h>

#include <array>
#include <cstdint>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::toy {

/// Exact at any size.
using Count = mpz_class;

/// How often each instruction of the text was executed, and its work in the unit of its FlopKind.
/// On scalars, every execution is one unit of work, except that a row reduction has none.
struct Executions {
  std::vector<Count> times, work;  // by instruction site
  bool operator==(const Executions&) const = default;
};

/// Returns the executions and work of instructions on scalars.
Executions scalar_executions(const BoundProgram& program, std::vector<Count> times);

/// Adds the executions of another machine that runs the same program.
void add_executions(Executions& sum, const Executions& more);

/// One executed instruction, for an observer. Valid only during the call.
struct Step {
  std::uint64_t number = 0;  // from 1
  const BoundInstruction* instruction = nullptr;
  const std::int64_t* loop_values = nullptr;          // by loop; valid for enclosing loops
  std::array<std::int64_t, kMaxOperands> operands{};  // register number, or element in DRAM
  std::int64_t work = 1;                              // if elements are tiles; see Executions
};

/// The result of a run besides the DRAM.
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

}  // namespace flashlab::toy
