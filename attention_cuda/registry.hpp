// The table of kernels: which file runs which variant on which types and GPUs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

struct ForwardCall;
struct BackwardCall;

/// The largest head_dim of any kernel.
inline constexpr std::int64_t kMaxHeadDim = 256;

/// What the elements are, and what multiplies them.
struct Arithmetic {
  DataType dtype;
  Products products;
  bool operator==(const Arithmetic&) const = default;
};

/// One kernel file: kernels/<stem>.cu.
struct KernelRow {
  std::string_view stem;
  std::string_view variant;
  std::span<const Arithmetic> arithmetic;
  int min_compute_capability;  // 80: 8.0
  std::string_view source;     // paper and algorithm, or seed
  void (*forward)(const ForwardCall&) = nullptr;
  void (*backward)(const BackwardCall&) = nullptr;
  /// Device memory beside the tensors; null: none.
  std::size_t (*workspace_bytes)(const AttentionProblem&, const ExecutionOptions&) = nullptr;
  /// Why this problem does not run here, beyond what holds for all kernels; null: no such reason.
  std::optional<std::string> (*why_not)(const AttentionProblem&, const ExecutionOptions&) = nullptr;
};

/// Every kernel, in the order of the course; of several that could run, the last one does.
std::span<const KernelRow* const> kernels();

/// Why a kernel cannot run a problem on a GPU of this compute capability: argument, value, what it
/// would take. Nothing if it can.
std::optional<ProblemError> why_unsupported(const KernelRow& row, const AttentionProblem& problem,
                                            const ExecutionOptions& execution,
                                            int compute_capability);

/// The kernel that a call takes. Throws ProblemError: no such variant, none that can.
const KernelRow& find_kernel(std::string_view variant, const AttentionProblem& problem,
                             const ExecutionOptions& execution, int compute_capability);

/// 90 for 9.0, of the current device. Throws CudaError: no driver, no GPU.
int compute_capability();

}  // namespace flashlab::cuda
