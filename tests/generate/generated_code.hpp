// Generated code, compiled for the emulation.
#pragma once

#include <cuda_runtime.h>

#include <span>
#include <stdexcept>
#include <vector>

#include "attention_cuda/emulation/tensor_core.hpp"

namespace flashlab::test {

struct GeneratedCode {
  const char* identifier;            // as identifier_of()
  void (*run)(void* const* arrays);  // all launches; arrays as in BoundProgram::arrays
};

/// Filled by the generated sources when the program starts.
inline std::vector<GeneratedCode>& generated_code() {
  static std::vector<GeneratedCode> all;
  return all;
}

inline int add_generated_code(std::span<const GeneratedCode> more) {
  generated_code().insert(generated_code().end(), more.begin(), more.end());
  return 0;
}

template <class... Parameters, class... Arguments>
void launch_generated(unsigned blocks, unsigned threads, std::size_t shared_bytes,
                      void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                       cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  const cudaError_t error =
      cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

}  // namespace flashlab::test
