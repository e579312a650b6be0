// The kernels by name: the variant, types and GPUs of each. Needs no CUDA, so that a machine
// without it can list and select kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// The largest head_dim of any kernel.
inline constexpr std::int64_t kMaxGpuHeadDim = 256;

/// The type of the elements, and how products are computed.
struct Arithmetic {
  DataType dtype;
  Products products;
  bool operator==(const Arithmetic&) const = default;
};

/// In which order blocks add to the same numbers.
enum class Additions : std::uint8_t {
  kNone,          // no two blocks do
  kAsTheyArrive,  // the last bits change from call to call
  kAlsoOrdered    // or, with ExecutionOptions::deterministic, in a fixed order
};

/// One kernel file: kernels/<stem>.cu.
struct KernelListing {
  std::string_view stem;
  std::string_view variant;
  std::span<const Arithmetic> arithmetic;
  int min_compute_capability;      // 80: 8.0
  std::string_view source;         // paper and algorithm, or a source in docs/sources.md
  int max_compute_capability = 0;  // 0: none. Instructions of one generation run on no other
  /// The instruction that multiplies, if its rate is not that of mma.sync: "wgmma".
  std::string_view product_instruction = {};
  bool takes_windows = true;  // AttentionOptions::window_left, window_right
  bool takes_packed = true;   // AttentionOptions::cu_seqlens_q, cu_seqlens_k
  std::int64_t max_head_dim = kMaxGpuHeadDim;
  bool takes_state = false;  // ExecutionOptions::state_in, state_out
  bool keeps_dQ = false;     // ExecutionOptions::continues_dQ, keeps_dQ
  bool reads_stop_flag = false;
  Additions additions = Additions::kNone;
};

/// Returns "9.0" for 90.
std::string compute_capability_text(int compute_capability);

/// Returns "13.0" for 13000, a version of CUDA.
std::string cuda_version_text(int version);

/// Returns every kernel in the order of the course. If several support a call, the last one runs.
std::span<const KernelListing> kernel_listings();

/// Returns why a kernel cannot run a problem on a GPU of this compute capability: argument, value,
/// what was expected. Nothing if it can.
std::optional<ProblemError> why_unsupported(const KernelListing& kernel,
                                            const AttentionProblem& problem,
                                            const ExecutionOptions& execution,
                                            int compute_capability);

/// Returns the kernel for a call: the last one that supports it and is usable. Without `is_usable`
/// all are. Throws ProblemError: no such variant, no suitable kernel.
const KernelListing& find_listing(std::string_view variant, const AttentionProblem& problem,
                                  const ExecutionOptions& execution, int compute_capability,
                                  const std::function<bool(const KernelListing&)>& is_usable = {});

}  // namespace flashlab::cuda
