// The requests about programs, as the command's flags or the JSON interface state them, and the JSON
// that answers each. `flashlab run --json` prints run_json(), and flashlab_call() returns it.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/machine/output_diff.hpp"
#include "cli/machine/program_diff.hpp"
#include "cli/machine/sweep_points.hpp"
#include "cli/options/execution.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/files.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/timeline/timeline.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::cli {

// All functions throw Failure: a program with errors, parameters that do not fit, a failed run, a
// request that contradicts itself.

struct RunRequest {
  std::string program;  // a name for load_program
  bool no_outputs = false;
  MachineOptions machine;
  RunOptions run;
};
nlohmann::ordered_json run_json(const RunRequest& request);

struct TraceRequest {
  std::string program;
  bool elide = false;
  std::uint64_t from = 1, to = UINT64_MAX;  // steps shown
  std::string body;                         // empty: every step
  MachineOptions machine;
  RunOptions run;

  /// Throws Failure for a wrong cost table, and if no step is left: before a long run.
  void check() const;
  toy::TraceOptions options() const;
};
using Traced = toy::Result<toy::Execution>;
/// Writes the trace. A program that fails has a trace too, which ends at the wrong step; then the
/// error is in the result. Throws Failure for a wrong request.
Traced write_trace_json(const TraceRequest& request, const LoadedProgram& loaded,
                        const toy::BoundProgram& bound, std::ostream& out);
/// Writes the page with the player, with the same errors.
Traced write_trace_page(const TraceRequest& request, const LoadedProgram& loaded,
                        const toy::BoundProgram& bound, std::ostream& out);

struct CostRequest {
  std::string program;
  MachineOptions machine;
};
/// The counts for one choice of parameters; of several machines, the sum.
struct CountedProgram {
  toy::BoundProgram bound;  // of the first machine
  toy::Executions executions;
};
/// A program's cost: formulas unless they cannot be derived, numbers unless a parameter
/// has no value.
struct ProgramCost {
  LoadedProgram loaded;
  std::optional<toy::CostFormulas> formulas;
  std::optional<CountedProgram> numbers;
};
ProgramCost derive_cost(const CostRequest& request);
nlohmann::ordered_json cost_json(const CostRequest& request, const ProgramCost& cost);

struct SweepRequest {
  std::string program;
  std::string fit;  // the parameter that the capacity limits; empty: none
  MachineOptions machine;
};
/// Returns points of which at least one is counted.
Sweep make_sweep(const SweepRequest& request);

struct DiffRequest {
  std::string left, right;
  bool outputs = false;  // whether to compare outputs, not costs
  MachineOptions machine;
  RunOptions run;
};
Comparison compare_costs(const DiffRequest& request);
OutputDiff compare_outputs(const DiffRequest& request);

struct TimelineRequest {
  std::string program, model = "both";  // serial, overlap, both
  std::int64_t buffers = 2;
  std::optional<std::int64_t> from, to;  // cycles
  std::optional<std::int64_t> rank;      // the machine shown, of several
  MachineOptions machine;

  /// Throws Failure for a wrong cost table, and if no cycle is left.
  void check() const;
  toy::TimelineOptions options() const;
};
/// Returns the timelines by machine and model.
using MachineTimelines = std::vector<std::vector<toy::Timeline>>;
MachineTimelines simulated(const toy::Machines& machines, const LoadedProgram& loaded,
                           const toy::TimelineOptions& options);
/// Returns the machine to show: the requested one, or the first that ends last under the last model.
/// Throws Failure if there is no such machine.
std::size_t shown_machine(const TimelineRequest& request, const MachineTimelines& timelines);
nlohmann::ordered_json timeline_json(const TimelineRequest& request);

/// Returns the instructions of one level; of all if it is empty.
std::vector<toy::InstructionSpec> instructions_of_level(const std::string& level);
nlohmann::ordered_json instructions_json(const std::vector<toy::InstructionSpec>& instructions);
/// The levels, in the order in which the course introduces them.
inline constexpr std::array<toy::Level, 3> kLevels{toy::Level::kMatmul, toy::Level::kSoftmax,
                                                   toy::Level::kAttention};

/// Returns names and titles of the bundled programs; for a name the program with its text.
nlohmann::ordered_json programs_json(const std::string& name);
/// Returns the bundled program. Throws Failure with a similar name.
const BundledProgram& bundled_program(const std::string& name);

}  // namespace flashlab::cli
