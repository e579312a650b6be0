// One call of a variant on tensors that the command owns, with progress on a terminal.
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
  std::string kernel;   // the stem of a GPU's; empty on the CPU
};

/// Runs a variant on some device, from and into the tensors given; the outputs are full of NaN
/// before it. Throws Failure.
using RunVariant = std::function<AttentionRun(std::string_view variant, AttentionTensors& tensors)>;

/// On the CPU, as the request says, which must outlive it.
RunVariant run_on_cpu(const AttentionRequest& request);

/// The forward variant whose O and lse a backward one is given.
inline constexpr const char* kForwardForBackward = "flash2";

/// Draws inputs from the seed and, for a backward variant, runs the forward pass. Throws Failure.
void prepare_run(const RunVariant& run, const VariantInfo& variant, std::uint64_t seed,
                 AttentionTensors& tensors);

/// Rows of the matrices whose product attention's rate is a share of.
inline constexpr std::int64_t kProductSize = 2048;

/// cpu::product_flops_per_s of that size with the request's threads and instructions.
double product_rate(const AttentionRequest& request);

}  // namespace flashlab::cli
