#include "cli/attention_cuda.hpp"
#include "cli/failure.hpp"

namespace flashlab::cli {

int attention_on_gpu(const AttentionFlags&, const AttentionRequest&) {
  throw request_failure(
      "flashlab was built without CUDA: no nvcc (CUDA Toolkit 12.4 or later) was on the PATH; "
      "--device cpu needs none");
}

std::optional<std::vector<ListedKernel>> gpu_kernels() { return std::nullopt; }

}  // namespace flashlab::cli
