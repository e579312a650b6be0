// Launching a kernel by hand in the emulation.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::test {

inline constexpr unsigned kFullMask = 0xFFFFFFFFu;

template <class... Parameters, class... Arguments>
cudaError_t launch(dim3 grid, dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                   Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/// The message of the std::logic_error with which the emulation names a kernel's fault.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no error";
}

template <class Element>
Element* shared_as() {
  return reinterpret_cast<Element*>(cuda::ptx::shared_memory());
}

}  // namespace flashlab::test
