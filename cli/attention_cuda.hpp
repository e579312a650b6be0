// `flashlab attention --device cuda`. attention_no_cuda.cpp takes the place of attention_cuda.cpp
// where there was no CUDA to build with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/attention_options.hpp"

namespace flashlab::cli {

/// Runs, verifies or measures what is asked for, and prints it. Returns the exit code. Throws
/// Failure; where flashlab was built without CUDA, and where there is no GPU, a request's.
int attention_on_gpu(const AttentionFlags& flags, const AttentionRequest& request);

struct ListedKernel {
  struct Arithmetic {
    std::string dtype, products;
  };
  std::string stem, variant, source;
  std::string compute_capability;  // the least: "8.0"
  std::vector<Arithmetic> arithmetic;
};

/// Nothing where flashlab was built without CUDA.
std::optional<std::vector<ListedKernel>> gpu_kernels();

}  // namespace flashlab::cli
