// A plan of launches as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal/terminal.hpp"
#include "generate/plan/plan.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {

struct PlannedProgram {
  std::string name;
  toy::BoundProgram bound;
  toy::Executions executions;  // on the machine
  generate::Target target;
  generate::Plan plan;
};

/// Returns the bytes that the launch's blocks load together, including repeated loads.
toy::Count loaded_bytes(const PlannedProgram& program, const generate::Launch& launch);

/// Returns a block of lines for each launch: grid, shared memory, traffic, and the reasons.
std::string plan_text(const PlannedProgram& program, const Terminal& terminal);

nlohmann::ordered_json plan_json(const PlannedProgram& program);

}  // namespace flashlab::cli
