// Runs a loaded program with the values of the flags.
#pragma once

#include <vector>

#include "cli/options/options.hpp"
#include "toymachine/run/interpreter.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::cli {

struct Executed {
  toy::Execution execution;
  std::vector<double> dram;  // after the last step
};

/// Throws Failure: inputs that do not fit, an error in the run, too many steps. The DRAM is that of
/// Machines::joined.
Executed execute(const LoadedProgram& loaded, const toy::Machines& machines,
                 const RunOptions& options);

/// Runs the program again and sends every step to the sink. An error in the run ends the trace,
/// which is still useful. So the error is in the result instead of being thrown.
toy::Result<toy::Execution> trace_to(toy::TraceSink& sink, const LoadedProgram& loaded,
                                     const toy::BoundProgram& bound, const RunOptions& options,
                                     const toy::TraceOptions& trace);

}  // namespace flashlab::cli
