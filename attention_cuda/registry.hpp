// The table of kernels: the functions that run the kernels in kernel_listing.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {

struct ForwardCall;
struct BackwardCall;

/// A kernel file: its listing, and the functions that run it.
struct KernelRow : KernelListing {
  void (*forward)(const ForwardCall&) = nullptr;
  void (*backward)(const BackwardCall&) = nullptr;
  /// Device memory besides the tensors; null: none.
  std::size_t (*workspace_bytes)(const AttentionProblem&, const ExecutionOptions&) = nullptr;
  /// Why the kernel cannot run these tensors, whose problem it can; null: it always can.
  std::optional<ProblemError> (*why_not)(const ForwardTensors&) = nullptr;
  std::optional<ProblemError> (*why_not_backward)(const BackwardTensors&) = nullptr;
  /// The kernel gives the same results without that memory, and may be slower.
  bool works_without_workspace = false;

  std::optional<ProblemError> refusal(const ForwardTensors& tensors) const {
    return why_not == nullptr ? std::nullopt : why_not(tensors);
  }
  std::optional<ProblemError> refusal(const BackwardTensors& tensors) const {
    return why_not_backward == nullptr ? std::nullopt : why_not_backward(tensors);
  }
};

/// Returns every kernel, in the order of kernel_listings().
std::span<const KernelRow* const> kernels();

/// Returns the kernel for a call: the one that `execution` names, or the last one that this build
/// has and that can run the problem and the tensors. `refusal`: why a kernel cannot run the call's
/// tensors; none: any tensors.
/// Throws ProblemError: no such variant, no suitable kernel.
const KernelRow& find_kernel(
    std::string_view variant, const AttentionProblem& problem, const ExecutionOptions& execution,
    int compute_capability,
    const std::function<std::optional<ProblemError>(const KernelRow&)>& refusal = {});

/// The same for the call's tensors: ForwardTensors or BackwardTensors.
template <class Tensors>
const KernelRow& find_kernel_for(const Tensors& tensors, std::string_view variant,
                                 const AttentionProblem& problem, const ExecutionOptions& execution,
                                 int compute_capability) {
  return find_kernel(variant, problem, execution, compute_capability,
                     [&](const KernelRow& row) { return row.refusal(tensors); });
}

/// Returns the current device's compute capability, 90 for 9.0. Throws CudaError: no
/// driver, no GPU.
int compute_capability();

/// Returns forward_variant() for the current device. Throws CudaError.
std::string_view forward_variant_here(const AttentionProblem& problem,
                                      const ExecutionOptions& execution);

}  // namespace flashlab::cuda
