// The rates of a calibration, described once: for measuring, for JSON and for tables.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "results/machine_model.hpp"

namespace flashlab::compare {

/// A rate that is no product's; those have the keys of Calibration::flops_per_s.
struct CalibrationField {
  std::string_view name;  // of what is measured: "DRAM copy"
  const char* key;        // in JSON
  std::optional<double> Calibration::*value;
  std::optional<Rate> MachineModel::*rate;  // what it becomes; null: MachineModel::launch_s
};
std::span<const CalibrationField> calibration_fields();

/// What the model has for a rate by its name, or for products by their key; nothing: none.
std::optional<Rate> rate_named(const MachineModel& machine, std::string_view name);

}  // namespace flashlab::compare
