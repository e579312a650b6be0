#include "attention_cuda/registry.hpp"

#include <algorithm>

namespace flashlab::cuda {

const KernelRow& find_kernel(std::string_view variant, const AttentionProblem& problem,
                             const ExecutionOptions& execution, int compute_capability) {
  const KernelListing& listing = find_listing(variant, problem, execution, compute_capability);
  return **std::ranges::find_if(kernels(),
                                [&](const KernelRow* row) { return row->stem == listing.stem; });
}

}  // namespace flashlab::cuda
