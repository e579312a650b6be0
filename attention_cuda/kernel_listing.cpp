#include "attention_cuda/kernel_listing.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "attention_cuda/kernels/kernel_table.hpp"

namespace flashlab::cuda {
namespace {

/// Indices and tile ends must fit 32 bits.
constexpr std::int64_t kMaxLength = std::int64_t{1} << 30;

std::string arithmetic_words(const Arithmetic& arithmetic) {
  std::string text(to_string(arithmetic.dtype));
  if (arithmetic.products != Products::kNative) {
    text += " with " + std::string(to_string(arithmetic.products)) + " products";
  }
  return text;
}

std::string all_arithmetic_words(const KernelListing& kernel) {
  std::string text;
  for (const Arithmetic& arithmetic : kernel.arithmetic) {
    text += (text.empty() ? "" : ", ") + arithmetic_words(arithmetic);
  }
  return text;
}

/// The types of the kernels of a variant, if none of them takes the call's.
ProblemError dtype_refusal(std::string_view variant, const Arithmetic& wanted) {
  std::string text;
  for (const KernelListing& kernel : kernel_listings()) {
    if (kernel.variant != variant) continue;
    text += (text.empty() ? "" : ", ") + all_arithmetic_words(kernel);
  }
  return {"dtype", arithmetic_words(wanted), text + " for " + std::string(variant)};
}

std::optional<ProblemError> size_refusal(const KernelListing& kernel,
                                         const AttentionProblem& problem) {
  const auto limit = [](std::string_view name, std::int64_t size, std::int64_t most) {
    return size <= most
               ? std::nullopt
               : std::optional(ProblemError(name, std::to_string(size),
                                            "at most " + std::to_string(most) + " on a GPU"));
  };
  if (auto refusal = limit("head_dim", problem.head_dim, kMaxGpuHeadDim)) return refusal;
  if (problem.head_dim > kernel.max_head_dim) {
    return ProblemError(
        "head_dim", std::to_string(problem.head_dim),
        "at most " + std::to_string(kernel.max_head_dim) + " for " + std::string(kernel.stem));
  }
  if (auto refusal = limit("seqlen_q", problem.seqlen_q, kMaxLength)) return refusal;
  if (auto refusal = limit("seqlen_k", problem.seqlen_k, kMaxLength)) return refusal;
  if (auto refusal = limit("batch", problem.batch, kMaxLength)) return refusal;
  return limit("num_heads", problem.num_heads, kMaxLength);
}

std::optional<ProblemError> option_refusal(const KernelListing& kernel,
                                           const AttentionProblem& problem,
                                           const ExecutionOptions& execution) {
  if (execution.num_splits < 0) {
    return ProblemError("num_splits", std::to_string(execution.num_splits), "0 or more");
  }
  const std::int64_t sequences =
      problem.is_packed() ? problem.num_sequences() : execution.num_sequences;
  if (sequences < 0 || sequences > kMaxLength) {
    return ProblemError("num_sequences", std::to_string(sequences),
                        "0 … " + std::to_string(kMaxLength));
  }
  if (execution.round_statistics &&
      (find_variant(kernel.variant).pass != Pass::kBackward || size_in_bytes(problem.dtype) != 2)) {
    return ProblemError("round_statistics", "true", "a backward pass of bf16 or fp16");
  }
  return std::nullopt;
}

/// Ordered additions need blocks of neighbouring keys, which packed sequences may not give.
std::optional<ProblemError> order_refusal(const KernelListing& kernel, bool is_packed,
                                          const ExecutionOptions& execution) {
  if (!execution.deterministic || kernel.additions == Additions::kNone) return std::nullopt;
  if (kernel.additions == Additions::kAlsoOrdered && !is_packed) return std::nullopt;
  const std::string what = is_packed ? "no packed sequences with " : "false with ";
  return ProblemError("deterministic", "true",
                      what + std::string(kernel.stem) + ", or bwd-twopass, which always is");
}

}  // namespace

std::string_view to_string(Products products) {
  constexpr std::string_view kNames[] = {"native", "tf32", "tf32x3", "fp16x3"};
  return kNames[static_cast<int>(products)];
}

std::optional<ProblemError> why_unsupported(const KernelListing& kernel,
                                            const AttentionProblem& problem,
                                            const ExecutionOptions& execution,
                                            int compute_capability) {
  const Arithmetic wanted{problem.dtype, execution.products};
  if (std::ranges::find(kernel.arithmetic, wanted) == kernel.arithmetic.end()) {
    return ProblemError("dtype", arithmetic_words(wanted),
                        all_arithmetic_words(kernel) + " for " + std::string(kernel.stem));
  }
  if (compute_capability < kernel.min_compute_capability) {
    return ProblemError("device",
                        "compute capability " + compute_capability_text(compute_capability),
                        compute_capability_text(kernel.min_compute_capability) + " or later for " +
                            std::string(kernel.stem));
  }
  if (kernel.max_compute_capability != 0 && compute_capability > kernel.max_compute_capability) {
    return ProblemError("device",
                        "compute capability " + compute_capability_text(compute_capability),
                        compute_capability_text(kernel.max_compute_capability) + " at most for " +
                            std::string(kernel.stem));
  }
  if (problem.has_window() && !kernel.takes_windows) {
    const bool is_left = problem.window_left.has_value();
    return ProblemError(is_left ? "window_left" : "window_right",
                        std::to_string(is_left ? *problem.window_left : *problem.window_right),
                        "no window for " + std::string(kernel.stem));
  }
  const bool is_packed = problem.is_packed() || execution.device_cu_seqlens_q != nullptr;
  if (is_packed && !kernel.takes_packed) {
    return ProblemError(
        "cu_seqlens_q",
        std::to_string(problem.is_packed() ? problem.num_sequences() : execution.num_sequences) +
            " sequences",
        "no packed sequences for " + std::string(kernel.stem));
  }
  if (execution.has_state() && !kernel.takes_state) {
    return ProblemError(execution.state_in.empty() ? "state_out" : "state_in", "given",
                        "no state for " + std::string(kernel.stem));
  }
  if ((execution.continues_dQ || execution.keeps_dQ) && !kernel.keeps_dQ) {
    return ProblemError("keeps_dQ", "true", "false for " + std::string(kernel.stem));
  }
  const std::int64_t first_query = execution.first_query;
  if (first_query != 0 &&
      (!kernel.keeps_dQ || first_query < 0 || first_query % kQueriesOfSums != 0)) {
    return ProblemError("first_query", std::to_string(first_query),
                        kernel.keeps_dQ ? "a multiple of " + std::to_string(kQueriesOfSums)
                                        : "0 for " + std::string(kernel.stem));
  }
  if (execution.stop_flag != nullptr && !kernel.reads_stop_flag) {
    return ProblemError("stop_flag", "given",
                        "none for " + std::string(kernel.stem) + ", which does not read it");
  }
  if (auto refusal = order_refusal(kernel, is_packed, execution)) return refusal;
  if (auto refusal = size_refusal(kernel, problem)) return refusal;
  if (auto refusal = option_refusal(kernel, problem, execution)) return refusal;
  return std::nullopt;
}

std::string compute_capability_text(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::span<const KernelListing> kernel_listings() {
  static constexpr auto kListings = [] {
    std::array<KernelListing, std::size(kKernelTable)> listings{};
    std::ranges::copy(kKernelTable, listings.begin());
    return listings;
  }();
  return kListings;
}

const KernelListing& find_listing(std::string_view variant, const AttentionProblem& problem,
                                  const ExecutionOptions& execution, int compute_capability,
                                  const std::function<bool(const KernelListing&)>& is_usable) {
  const std::string_view name = find_variant(variant).name;
  const KernelListing* found = nullptr;
  std::optional<ProblemError> refusal;
  for (const KernelListing& kernel : kernel_listings()) {
    if (kernel.variant != name) continue;
    if (!execution.kernel.empty() && kernel.stem != execution.kernel) continue;
    if (is_usable && !is_usable(kernel)) continue;
    const auto why = why_unsupported(kernel, problem, execution, compute_capability);
    if (!why) {
      found = &kernel;
    } else if (!refusal || refusal->field == "dtype") {  // other reasons are more specific
      refusal.emplace(*why);
    }
  }
  if (found != nullptr) return *found;
  if (refusal && refusal->field == "dtype" && execution.kernel.empty()) {
    throw dtype_refusal(name, {problem.dtype, execution.products});
  }
  if (refusal) throw ProblemError(*refusal);
  if (!execution.kernel.empty()) {
    throw ProblemError("kernel", execution.kernel, "a kernel of " + std::string(name));
  }
  throw ProblemError("variant", name, "a variant that runs on a GPU");
}

}  // namespace flashlab::cuda
