#include "attention_cuda/registry.hpp"

#include <algorithm>
#include <vector>

#include "kernel_rows.hpp"

namespace flashlab::cuda {

std::span<const KernelRow* const> kernels() {
  static const std::vector<const KernelRow*> kRows = [] {
    std::vector<const KernelRow*> rows;
    for (const KernelListing& listing : kernel_listings()) {
      const auto found = std::ranges::find(kLinkedKernels, listing.stem, &KernelRow::stem);
      if (found != std::end(kLinkedKernels)) rows.push_back(*found);
    }
    return rows;
  }();
  return kRows;
}

const KernelRow& find_kernel(std::string_view variant, const AttentionProblem& problem,
                             const ExecutionOptions& execution, int compute_capability) {
  const KernelListing& listing = find_listing(variant, problem, execution, compute_capability);
  const auto found = std::ranges::find(kernels(), listing.stem, &KernelRow::stem);
  if (found == kernels().end()) {  // of a generation that this build leaves out
    throw ProblemError("kernel", listing.stem,
                       "a kernel of this build; FLASHLAB_CUDA_ARCHITECTURES lacks " +
                           compute_capability_text(listing.min_compute_capability));
  }
  return **found;
}

}  // namespace flashlab::cuda
