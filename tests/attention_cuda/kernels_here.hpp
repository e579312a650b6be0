// The kernels that tests run over, and whether there is a GPU to run them on.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "attention_cuda/registry.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {

/// A kernel and one of the arithmetics that it has.
struct KernelCase {
  const cuda::KernelRow* row;
  cuda::Arithmetic arithmetic;
  bool deterministic = false;

  std::string name() const {
    return std::string(row->stem) + " " + std::string(to_string(arithmetic.dtype)) + " " +
           std::string(to_string(arithmetic.products)) + (deterministic ? " in order" : "");
  }
};

/// Those of a pass that take the type.
inline std::vector<KernelCase> kernels_here(Pass pass, DataType dtype) {
  std::vector<KernelCase> result;
  for (const cuda::KernelRow* const row : cuda::kernels()) {
    if ((row->forward != nullptr) != (pass == Pass::kForward)) continue;
    for (const cuda::Arithmetic& arithmetic : row->arithmetic) {
      if (arithmetic.dtype == dtype) result.push_back({row, arithmetic});
    }
  }
  return result;
}

/// Empty where there is a GPU (or an emulated one), else why there is none.
inline std::string why_no_gpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return std::string("no GPU: ") + cudaGetErrorString(error);
  return count == 0 ? "no GPU" : "";
}

}  // namespace flashlab::test

/// The first line of each test that needs a GPU.
#define FLASHLAB_NEEDS_GPU() \
  if (!flashlab::test::why_no_gpu().empty()) FLASHLAB_SKIP(flashlab::test::why_no_gpu())
