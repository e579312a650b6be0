// The kernels by name: which variant each runs, on which types and GPUs. No CUDA here: a machine
// without it can list them and choose among them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// The largest head_dim of any kernel.
inline constexpr std::int64_t kMaxGpuHeadDim = 256;

/// What the elements are, and what multiplies them.
struct Arithmetic {
  DataType dtype;
  Products products;
  bool operator==(const Arithmetic&) const = default;
};

/// One kernel file: kernels/<stem>.cu.
struct KernelListing {
  std::string_view stem;
  std::string_view variant;
  std::span<const Arithmetic> arithmetic;
  int min_compute_capability;  // 80: 8.0
  std::string_view source;     // paper and algorithm, or a source of docs/sources.md
};

/// "9.0" of 90.
std::string compute_capability_text(int compute_capability);

/// Every kernel, in the order of the course; of several that could run, the last one does.
std::span<const KernelListing> kernel_listings();

/// Why a kernel cannot run a problem on a GPU of this compute capability: argument, value, what it
/// would take. Nothing if it can.
std::optional<ProblemError> why_unsupported(const KernelListing& kernel,
                                            const AttentionProblem& problem,
                                            const ExecutionOptions& execution,
                                            int compute_capability);

/// The kernel that a call takes. Throws ProblemError: no such variant, none that can.
const KernelListing& find_listing(std::string_view variant, const AttentionProblem& problem,
                                  const ExecutionOptions& execution, int compute_capability);

}  // namespace flashlab::cuda
