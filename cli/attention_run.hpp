// One call of a variant on tensors that the command owns, with progress on a terminal.
#pragma once

#include "attention/variants.hpp"
#include "attention_cpu/attention.hpp"
#include "cli/attention_options.hpp"
#include "cli/attention_tensors.hpp"

namespace flashlab::cli {

struct AttentionRun {
  double seconds = 0;
  cpu::Execution execution;
};

/// The forward variant whose O and lse a backward one is given.
inline constexpr const char* kForwardForBackward = "flash2";

/// Draws inputs from the seed and, for a backward variant, runs the forward pass. Throws Failure.
void prepare_run(const AttentionRequest& request, const VariantInfo& variant, std::uint64_t seed,
                 AttentionTensors& tensors);

/// Fills the outputs with NaN, then runs the variant. Throws Failure.
AttentionRun run_variant(const AttentionRequest& request, std::string_view variant,
                         AttentionTensors& tensors);

/// Rows of the matrices whose product attention's rate is a share of.
inline constexpr std::int64_t kProductSize = 2048;

/// cpu::product_flops_per_s of that size with the request's threads and instructions.
double product_rate(const AttentionRequest& request);

}  // namespace flashlab::cli
