#include "cli/options/execution.hpp"

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {

Executed execute(const LoadedProgram& loaded, const toy::Machines& machines,
                 const RunOptions& options) {
  std::vector<double> dram =
      value_or_fail(toy::initial_dram(machines.joined, options.input_sources()), *loaded.source);
  if (options.precision == "double") {
    toy::Execution execution = value_or_fail(toy::run_machines(machines, dram), *loaded.source);
    return {std::move(execution), std::move(dram)};
  }
  std::vector<float> narrow(dram.begin(), dram.end());
  toy::Execution execution = value_or_fail(toy::run_machines(machines, narrow), *loaded.source);
  dram.assign(narrow.begin(), narrow.end());
  return {std::move(execution), std::move(dram)};
}

toy::Result<toy::Execution> trace_to(toy::TraceSink& sink, const LoadedProgram& loaded,
                                     const toy::BoundProgram& bound, const RunOptions& options,
                                     const toy::TraceOptions& trace) {
  std::vector<double> dram =
      value_or_fail(toy::initial_dram(bound, options.input_sources()), *loaded.source);
  if (options.precision == "double") return toy::trace(bound, std::span(dram), trace, sink);
  std::vector<float> narrow(dram.begin(), dram.end());
  return toy::trace(bound, std::span(narrow), trace, sink);
}

}  // namespace flashlab::cli
