// What `flashlab compare` asks of a GPU.
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
  bool is_listed = true;           // else it has no data sheet, and `spec` is what the device says
  compare::GpuSpec spec;
};
/// The GPU that calls would run on; nothing, and `why_not` says why.
std::optional<GpuHere> find_gpu_here(std::string& why_not);

struct CalibrationShown {
  compare::Calibration calibration;
  std::string table;  // measured, spread, data sheet, share
};
/// Takes some seconds. Throws Failure.
CalibrationShown calibrate_here(const Terminal& terminal);

struct MeasureRequest {
  int repeat = 5;
  std::uint64_t seed = 1;
  bool counters = true;
};
/// Fills in what was measured of the row and its steps, or why nothing was. `data_sheet`: a time
/// that this machine could not reach is no measurement.
void measure_here(compare::Row& row, const compare::MachineModel& data_sheet,
                  const MeasureRequest& request);

}  // namespace flashlab::cli
