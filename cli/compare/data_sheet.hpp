// What a GPU's data sheet promises, and what --calibrate measured of it.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"
#include "results/machine_model.hpp"

namespace flashlab::cli {

/// Returns the sizes and rates of the machine's GPU, with the rates that were measured beside them
/// if there are any, and the sources of the sheet.
std::string data_sheet_table(const compare::MachineModel& machine, const Terminal& terminal);

}  // namespace flashlab::cli
