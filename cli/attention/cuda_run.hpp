// Calls on a GPU for `flashlab attention`: once on the command's tensors, or measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/gpu.hpp"
#include "attention_cuda/roofline.hpp"
#include "attention_cuda/samples.hpp"
#include "attention_cuda/tiles.hpp"
#include "cli/attention/run.hpp"

namespace flashlab::cli {

/// Returns the current GPU. Throws Failure if there is no GPU or no library of kernels.
cuda::GpuInfo gpu_or_failure();

/// Returns the variant that suits the request, whose own variants do not matter. Throws Failure.
std::string_view auto_variant(const AttentionRequest& request, const cuda::GpuLimits& gpu);

/// A variant that the GPU cannot run on this problem, and the reason.
struct RefusedVariant {
  std::string variant, reason;
};

/// Removes the variants that no kernel supports. Throws Failure if none is left, or if only
/// one was requested.
std::vector<RefusedVariant> refuse_variants(AttentionRequest& request, const cuda::GpuInfo& gpu);

/// Copies tensors to the GPU, runs the call, and copies results back. The request must
/// outlive the result.
RunVariant run_on_gpu(const AttentionRequest& request);

struct MeasuredKernel {
  std::string variant, kernel;
  cuda::Samples samples;
  double flops = 0;  // usual count
  std::size_t workspace_bytes = 0;
  std::optional<cuda::PeakRates> peak;  // nothing: unknown for this GPU
  double floor_ms = 0;                  // minimum time by these rates

  double flops_per_s() const { return flops / (1e-3 * samples.median()); }
};

/// Uses new inputs each time, and outputs filled with NaN. Throws Failure, also for a time
/// below the minimum.
std::vector<MeasuredKernel> measure_on_gpu(const AttentionRequest& request, int repeat,
                                           const cuda::GpuInfo& gpu);

/// Throws Failure if a time is below the minimum.
void check_floor(const MeasuredKernel& measured, const cuda::GpuInfo& gpu);

/// The kernels of one variant.
struct KernelBreakdown {
  std::string variant, kernel;
  std::vector<cuda::KernelTotal> launches;  // medians

  double total_ms() const;
};

std::vector<KernelBreakdown> measure_by_kernel(const AttentionRequest& request, int repeat);

}  // namespace flashlab::cli
