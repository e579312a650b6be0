// CUDA's handles for memory and events of other processes, and what goes with them. The emulation has a
// header of its own with this name.
#pragma once

#include <cuda_runtime.h>

#include <array>

namespace flashlab::cuda {

/// Returns the first byte of the allocation that contains the pointer: other processes open whole
/// allocations. Throws CudaError: none does.
void* allocation_of(void* device_memory);

/// Names a GPU, or a part of one, uniquely. Throws CudaError.
std::array<char, 16> uuid_of(int device);

}  // namespace flashlab::cuda
