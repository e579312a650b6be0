// The rates of a calibration in one table, for measuring, JSON and tables.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "results/machine_model.hpp"

namespace flashlab::compare {

/// A rate other than a product's. Product rates have the keys of Calibration::flops_per_s.
struct CalibrationField {
  std::string_view name;  // the measured quantity: "DRAM copy"
  const char* key;        // in JSON
  std::optional<double> Calibration::*value;
  std::optional<Rate> MachineModel::*rate;  // the model's rate; null: MachineModel::launch_s
};
std::span<const CalibrationField> calibration_fields();

/// Returns the model's rate by its name, or a product's rate by its key; nothing: unknown.
std::optional<Rate> rate_named(const MachineModel& machine, std::string_view name);

}  // namespace flashlab::compare
