#include "cli/attention_cuda.hpp"
#include "cli/failure.hpp"

namespace flashlab::cli {

int attention_on_gpu(const AttentionFlags&, const AttentionRequest&) {
  throw request_failure(
      "flashlab was built without CUDA",
      "a build with nvcc (CUDA Toolkit 12.4 or later) on the PATH, or --device cpu");
}

std::optional<std::vector<ListedKernel>> gpu_kernels() { return std::nullopt; }

}  // namespace flashlab::cli
