#include "attention_cuda/registry.hpp"

#include <algorithm>
#include <vector>

#include "kernel_rows.hpp"

namespace flashlab::cuda {
namespace {

/// Null: this build leaves it out.
const KernelRow* linked_row(const KernelListing& listing) {
  const auto found = std::ranges::find(kernels(), listing.stem, &KernelRow::stem);
  return found == kernels().end() ? nullptr : *found;
}

}  // namespace

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

const KernelRow& find_kernel(
    std::string_view variant, const AttentionProblem& problem, const ExecutionOptions& execution,
    int compute_capability,
    const std::function<std::optional<ProblemError>(const KernelRow&)>& refusal) {
  const auto why_not = [&](const KernelRow& row) {
    return refusal ? refusal(row) : std::optional<ProblemError>();
  };
  const auto is_usable = [&](const KernelListing& listing) {
    if (!execution.kernel.empty()) return true;  // it runs, or the caller is told why not
    const KernelRow* const row = linked_row(listing);
    return row != nullptr && !why_not(*row);
  };
  const KernelListing& listing =
      find_listing(variant, problem, execution, compute_capability, is_usable);
  const KernelRow* const row = linked_row(listing);
  if (row == nullptr) {  // of a generation that this build leaves out
    throw ProblemError("kernel", listing.stem,
                       "a kernel of this build; FLASHLAB_CUDA_ARCHITECTURES lacks " +
                           compute_capability_text(listing.min_compute_capability));
  }
  if (const auto why = why_not(*row)) throw ProblemError(*why);
  return *row;
}

}  // namespace flashlab::cuda
