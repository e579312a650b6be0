#include "compare/calibration_fields.hpp"

namespace flashlab::compare {

std::span<const CalibrationField> calibration_fields() {
  static constexpr CalibrationField kFields[] = {
      {"dram_copy_bytes_per_s", "B/s", "DRAM, a copy: bytes read and written",
       &Calibration::dram_copy_bytes_per_s, &MachineModel::dram_copy},
      {"dram_read_bytes_per_s", "B/s", "DRAM, reading", &Calibration::dram_read_bytes_per_s,
       &MachineModel::dram_read},
      {"sm_bytes_per_s", "B/s", "L2 to the multiprocessors", &Calibration::sm_bytes_per_s,
       &MachineModel::sm},
      {"shared_bytes_per_s", "B/s", "shared memory to registers", &Calibration::shared_bytes_per_s,
       &MachineModel::shared},
      {"elementwise_per_s", "op/s", "additions and maxima", &Calibration::elementwise_per_s,
       &MachineModel::elementwise},
      {"exps_per_s", "op/s", "2^x", &Calibration::exps_per_s, &MachineModel::exps},
      {"divisions_per_s", "op/s", "divisions, IEEE", &Calibration::divisions_per_s,
       &MachineModel::divisions},
      {"launch_s", "s", "a launch", &Calibration::launch_s, nullptr},
  };
  return kFields;
}

std::string product_description(const std::string& key) {
  if (key == "float") return "fp32 products, multiply-add";
  return (key == "float tf32" ? "tf32" : key) + " products, mma.sync";
}

}  // namespace flashlab::compare
