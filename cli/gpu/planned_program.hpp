// A program with the plan of its launches, and the work of each launch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "generate/plan/element_types.hpp"
#include "generate/plan/plan.hpp"
#include "results/comparison.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

struct PlannedProgram {
  std::string name;
  toy::BoundProgram bound;
  toy::Executions executions;  // on the machine
  generate::Target target;
  generate::Plan plan;
  toy::ElementType type = toy::ElementType::kFloat;  // requested for inputs and outputs
  std::vector<generate::KeptType> kept;              // arrays that keep float
};

/// What a program is generated for. Level 1 multiplies on tensor cores, in `type`; level 2 does so by the
/// warpgroups of compute capability 9.0.
struct GpuTarget {
  toy::ElementType type = toy::ElementType::kFloat;
  int level = 0;
  std::optional<std::int64_t> shared_bytes;  // nothing: what every GPU has that can run it
};

/// Throws Failure: the program goes wrong, does not fit the GPU, or cannot be of this level.
PlannedProgram planned_program(toy::BoundProgram bound, const std::string& name,
                               const GpuTarget& target);

/// Does the same with the options of a command.
PlannedProgram planned_program(const MachineOptions& machine, const LoadedProgram& loaded,
                               toy::ElementType type, int level);

/// Returns the bytes that the launch's blocks load together, including repeated loads.
toy::Count loaded_bytes(const PlannedProgram& program, const generate::Launch& launch);

/// Returns the work of a launch for all problems. Throws Failure: a count of 2^63 or more.
compare::Work work_of(const PlannedProgram& program, const generate::Launch& launch,
                      std::int64_t problems);

}  // namespace flashlab::cli
