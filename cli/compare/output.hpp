// Reads and writes the files of `flashlab compare`. All functions throw Failure.
#pragma once

#include <string>

#include "cli/compare/options.hpp"
#include "results/result_file.hpp"

namespace flashlab::cli {

/// Reads a file that --json wrote, or an embedded one by its name: "h200".
compare::Comparison read_comparison(const std::string& file);
compare::Calibration read_calibration(const std::string& file);
/// Stores the counters of one call in its row and steps.
void take_ncu_counters(const std::string& file, compare::Row& row);

/// These do nothing for an empty name; "-" is standard output.
void write_json(const std::string& file, const compare::Comparison& comparison);
void write_csv(const std::string& file, const compare::Comparison& comparison);
/// Writes --html and --svg.
void write_pictures(const CompareFlags& flags, const compare::Comparison& comparison,
                    const compare::MachineModel& machine, const compare::MachineModel& data_sheet);

}  // namespace flashlab::cli
