// What the GPU at hand does in a second, by kernels that are not attention: see machine_model.hpp.
#pragma once

#include <vector>

#include "compare/calibrated_rates.hpp"
#include "compare/machine_model.hpp"

namespace flashlab::compare {

struct CalibrationOptions {
  int num_samples = 5;
  double sample_ms = 20;
};

struct CalibrationResult {
  Calibration calibration;            // the medians
  std::vector<CalibratedRate> rates;  // with their spread, in the order of kCalibrationKeys
};

/// On the current device, which should have nothing else to do. Takes a few seconds.
/// Errors  CudaError: no GPU, a kernel that failed. NoDeviceMemory: not even for small buffers.
CalibrationResult calibrate(const CalibrationOptions& options = {});

}  // namespace flashlab::compare
