// Measures the rates of the current GPU with kernels that are not attention: see machine_model.hpp.
#pragma once

#include "compare/rows/gpu_measurements.hpp"

namespace flashlab::compare {

/// Calibrates the current device, which should be idle otherwise. Takes a few seconds.
/// Errors  CudaError: no GPU, a kernel that failed. NoDeviceMemory: too little for small buffers.
CalibrationResult calibrate(const CalibrationOptions& options = {});

}  // namespace flashlab::compare
