// A plan of launches as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/gpu/planned_program.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// Returns a block of lines for each launch: grid, shared memory, traffic, and the reasons.
std::string plan_text(const PlannedProgram& program, const Terminal& terminal);

nlohmann::ordered_json plan_json(const PlannedProgram& program);

}  // namespace flashlab::cli
