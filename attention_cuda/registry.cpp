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
  return **std::ranges::find_if(kernels(),
                                [&](const KernelRow* row) { return row->stem == listing.stem; });
}

}  // namespace flashlab::cuda
