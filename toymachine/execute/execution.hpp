// What a run does and leaves: its steps as an observer sees them, and how often each instruction
// was executed.
#pragma once

#include <gmpxx.h>

#include <array>
#include <cstdint>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"

namespace flashlab::toy {

/// Exact at any size.
using Count = mpz_class;

/// How often each instruction of the text was executed, and how much work that was: FlopKind says
/// in which unit. On scalars every execution is one unit of work, but a row reduction's is none.
struct Executions {
  std::vector<Count> times, work;  // by instruction site
  bool operator==(const Executions&) const = default;
};

/// What executions on scalars amount to.
Executions scalar_executions(const BoundProgram& program, std::vector<Count> times);

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

}  // namespace flashlab::toy
