// How TMA addresses the arrays of a job.
#pragma once

#include <cstdint>

#include "generate/run/driver.hpp"
#include "generate/run/job.hpp"

namespace flashlab::generate {

/// Returns the map of an array of all problems: columns, rows, planes, problems. A box has 64 columns
/// and its rows, and is written in the 128-byte swizzle. A single column is one row. Throws GpuUnavailable: a driver before
/// CUDA 12; GpuError: the driver refuses.
TensorMap tensor_map(const CudaDriver& driver, const JobArray& array, std::int64_t problems,
                     DevicePointer address, const BoxedArray& boxed);

}  // namespace flashlab::generate
