// One call of a variant on the command's tensors, with progress on a terminal.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "attention/variants.hpp"
#include "cli/attention/options.hpp"
#include "cli/attention/tensors.hpp"

namespace flashlab::cli {

struct AttentionRun {
  double seconds = 0;
  std::int64_t workspace_bytes = 0;
  int num_threads = 0;  // 0 on a GPU
  std::string kernel;   // stem of a GPU kernel; empty on the CPU
};

/// Runs a variant on some device with the given tensors. The outputs are filled with NaN
/// before. Throws Failure.
using RunVariant = std::function<AttentionRun(std::string_view variant, AttentionTensors& tensors)>;

/// Returns the function for the CPU. The request must outlive it.
RunVariant run_on_cpu(const AttentionRequest& request);

/// The forward variant that computes O and lse for backward ones.
inline constexpr const char* kForwardForBackward = "flash2";

/// Draws inputs from the seed. For a backward variant, also runs the forward pass. Throws Failure.
void prepare_run(const RunVariant& run, const VariantInfo& variant, std::uint64_t seed,
                 AttentionTensors& tensors);

/// Size of the matrix product that attention's rate is compared with.
inline constexpr std::int64_t kProductSize = 2048;

/// Returns cpu::product_flops_per_s for that size with the request's threads and instruction set.
double product_rate(const AttentionRequest& request);

}  // namespace flashlab::cli
