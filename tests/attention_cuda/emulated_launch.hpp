// Launching a kernel by hand in the emulation.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

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

template <class Element>
Element* shared_as() {
  return reinterpret_cast<Element*>(cuda::ptx::shared_memory());
}

}  // namespace flashlab::test
