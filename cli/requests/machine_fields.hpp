// Reads the fields that describe a machine and a run: the flags that several commands share.
#pragma once

#include "cli/options/options.hpp"
#include "cli/requests/answers.hpp"
#include "cli/requests/request_reader.hpp"

namespace flashlab::cli {

/// Whether parameters may have ranges, as in a sweep.
enum class ParameterValues : std::uint8_t { kOne, kRanges };

/// Reads "params", "registers", "operands", "sram", "cost", "max_steps" and the other limits.
void read_machine(ObjectReader& request, const CallLimits& limits, ParameterValues values,
                  MachineOptions& machine);

/// Reads "precision" and "inputs".
void read_run(ObjectReader& request, RunOptions& run);

/// Returns the texts of "params" in the form of -D: "n=64".
std::vector<std::string> read_params(ObjectReader& request, ParameterValues values);

/// Returns "registers" in the form of --registers; empty without the field.
std::string read_registers(ObjectReader& request, ParameterValues values);

/// Returns "cost" in the form of --cost; empty without the field.
std::string read_cost(ObjectReader& request);

}  // namespace flashlab::cli
