// The rates of a calibration, described once: for JSON, tables and the report.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compare/machine_model.hpp"

namespace flashlab::compare {

struct CalibrationField {
  const char* key;          // in JSON
  const char* unit;         // "B/s", "op/s", "s"
  const char* description;  // "DRAM, a copy: bytes read and written"
  std::optional<double> Calibration::*value;
  std::optional<Rate> MachineModel::*rate;  // what it becomes; null: MachineModel::launch_s
};
std::span<const CalibrationField> calibration_fields();

/// "bf16": "bf16 products, mma.sync". Of the keys of Calibration::flops_per_s.
std::string product_description(const std::string& key);

}  // namespace flashlab::compare
