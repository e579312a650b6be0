// All machines of a program: bound, counted, run. A program without .machines is one machine, and
// gives what bind(), count_executions() and run() give.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/capacity.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// The machines of one program. Each has arrays of its own, as declared.
struct Machines {
  std::vector<BoundProgram> programs;  // by rank; at least one
  /// The arrays of all machines as one: with several machines, each array has a first axis more,
  /// of one entry per machine. Inputs are read and outputs are shown in this form. Nothing else may
  /// use this program: its instructions do not know the axis.
  BoundProgram joined;

  const BoundProgram& first() const { return programs.front(); }
  bool several() const { return first().machine.has_value(); }
};

/// Errors: those of bind(), more machines than Limits::max_machines, an array whose size depends on
/// the machine's number.
Result<Machines> bind_machines(const std::shared_ptr<const Program>& program,
                               const CapacityBinding& binding);

/// Returns the sum of count_executions() over the machines. No error tells whether messages fit.
Result<Executions> count_machines(const Machines& machines);

/// Runs all machines on `dram`, the cells of Machines::joined, and returns the sum of their
/// executions. Errors: those of run(), for each machine; a message to no other machine, or one that
/// does not fit its cell; machines that wait for each other; a message that is never received.
/// Fault::kLimit if all machines together take more than Limits::max_steps.
template <class Number>
Result<Execution> run_machines(const Machines& machines, std::vector<Number>& dram);

}  // namespace flashlab::toy
