// The table of kernels: what runs the kernels that kernel_listing.hpp lists.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {

struct ForwardCall;
struct BackwardCall;

/// A kernel file, as it is listed, and what runs it.
struct KernelRow : KernelListing {
  void (*forward)(const ForwardCall&) = nullptr;
  void (*backward)(const BackwardCall&) = nullptr;
  /// Device memory beside the tensors; null: none.
  std::size_t (*workspace_bytes)(const AttentionProblem&, const ExecutionOptions&) = nullptr;
};

/// Every kernel, in the order of kernel_listings().
std::span<const KernelRow* const> kernels();

/// The kernel that a call takes. Throws ProblemError: no such variant, none that can.
const KernelRow& find_kernel(std::string_view variant, const AttentionProblem& problem,
                             const ExecutionOptions& execution, int compute_capability);

/// 90 for 9.0, of the current device. Throws CudaError: no driver, no GPU.
int compute_capability();

}  // namespace flashlab::cuda
