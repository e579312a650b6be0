// Converts a failed CUDA call into an exception with its name and place.
#pragma once

#include <cuda_runtime.h>

#include <source_location>
#include <string_view>

#include "attention_cuda/attention.hpp"

namespace flashlab::compare {

inline void check_cuda(cudaError_t error, std::string_view call,
                       std::source_location where = std::source_location::current()) {
  if (error != cudaSuccess) throw cuda::CudaError(call, cudaGetErrorString(error), where);
}

/// Checks the launch before this call.
inline void check_launch(std::string_view kernel,
                         std::source_location where = std::source_location::current()) {
  check_cuda(cudaGetLastError(), kernel, where);
}

}  // namespace flashlab::compare
