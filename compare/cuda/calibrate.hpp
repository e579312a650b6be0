// What the GPU at hand does in a second, by kernels that are not attention: see machine_model.hpp.
#pragma once

#include "compare/rows/gpu_library.hpp"

namespace flashlab::compare {

/// On the current device, which should have nothing else to do. Takes a few seconds.
/// Errors  CudaError: no GPU, a kernel that failed. NoDeviceMemory: not even for small buffers.
CalibrationResult calibrate(const CalibrationOptions& options = {});

}  // namespace flashlab::compare
