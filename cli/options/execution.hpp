// Running a loaded program with the values that the flags give.
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

/// Throws Failure: inputs that do not fit, an error of the run, too many steps.
Executed execute(const LoadedProgram& loaded, const toy::BoundProgram& bound,
                 const RunOptions& options);

/// Runs the program once more and shows every step to the sink. Nothing is thrown for an error of
/// the run itself, which ends the trace but does not make it worthless: it is in the result.
toy::Result<toy::Execution> trace_to(toy::TraceSink& sink, const LoadedProgram& loaded,
                                     const toy::BoundProgram& bound, const RunOptions& options,
                                     const toy::TraceOptions& trace);

}  // namespace flashlab::cli
