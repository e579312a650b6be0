// Files that `flashlab compare` reads and writes. All of them throw Failure.
#pragma once

#include <string>

#include "cli/compare/options.hpp"
#include "results/result_file.hpp"

namespace flashlab::cli {

/// A file that --json wrote, or the name of one that comes with the command: "h200".
compare::Comparison read_comparison(const std::string& file);
compare::Calibration read_calibration(const std::string& file);
/// Counters of one call into its row and steps.
void take_ncu_counters(const std::string& file, compare::Row& row);

/// Nothing for an empty name; "-" is standard output.
void write_json(const std::string& file, const compare::Comparison& comparison);
void write_csv(const std::string& file, const compare::Comparison& comparison);
/// --html and --svg.
void write_pictures(const CompareFlags& flags, const compare::Comparison& comparison,
                    const compare::MachineModel& machine, const compare::MachineModel& data_sheet);

}  // namespace flashlab::cli
