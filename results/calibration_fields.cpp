#include "results/calibration_fields.hpp"

#include <string>

namespace flashlab::compare {

std::span<const CalibrationField> calibration_fields() {
  static constexpr CalibrationField kFields[] = {
      {"DRAM copy", "dram_copy_bytes_per_s", &Calibration::dram_copy_bytes_per_s,
       &MachineModel::dram_copy},
      {"DRAM read", "dram_read_bytes_per_s", &Calibration::dram_read_bytes_per_s,
       &MachineModel::dram_read},
      {"L2 to SM", "sm_bytes_per_s", &Calibration::sm_bytes_per_s, &MachineModel::sm},
      {"shared memory", "shared_bytes_per_s", &Calibration::shared_bytes_per_s,
       &MachineModel::shared},
      {"additions", "additions_bytes_per_s", &Calibration::additions_bytes_per_s,
       &MachineModel::additions},
      {"bulk additions", "bulk_additions_bytes_per_s", &Calibration::bulk_additions_bytes_per_s,
       &MachineModel::bulk_additions},
      {"elementwise", "elementwise_per_s", &Calibration::elementwise_per_s,
       &MachineModel::elementwise},
      {"exp2", "exps_per_s", &Calibration::exps_per_s, &MachineModel::exps},
      {"divisions", "divisions_per_s", &Calibration::divisions_per_s, &MachineModel::divisions},
      {"launches", "launch_s", &Calibration::launch_s, nullptr},
  };
  return kFields;
}

std::optional<Rate> rate_named(const MachineModel& machine, std::string_view name) {
  for (const CalibrationField& field : calibration_fields()) {
    if (field.name == name && field.rate != nullptr) return machine.*field.rate;
  }
  const auto product = machine.products.find(std::string(name));
  return product == machine.products.end() ? std::nullopt : std::optional(product->second);
}

}  // namespace flashlab::compare
