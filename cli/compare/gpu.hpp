// The GPU functions of `flashlab compare`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/terminal/terminal.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::cli {

struct GpuHere {
  std::string name, driver, cuda;  // "NVIDIA H200", "13.0", "13.0"
  bool is_listed = true;           // false: no data sheet, and `spec` is what the device reports
  gpu::GpuSpec spec;
};
/// Returns the GPU for calls. If there is none, returns nothing and sets `why_not`.
std::optional<GpuHere> find_gpu_here(std::string& why_not);

struct CalibrationShown {
  compare::Calibration calibration;
  std::string table;  // measured, spread, data sheet, share
};
/// Calibrates the GPU, which takes some seconds. Throws Failure.
CalibrationShown calibrate_here(const Terminal& terminal);

struct MeasureRequest {
  int repeat = 5;
  std::uint64_t seed = 1;
  bool counters = true;
};
/// Sets the measurements of the row and its steps, or why there are none. `data_sheet`: a time that
/// this machine cannot reach is rejected.
void measure_here(compare::Row& row, const compare::MachineModel& data_sheet,
                  const MeasureRequest& request);

}  // namespace flashlab::cli
