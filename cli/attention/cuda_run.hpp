// Calls on a GPU, for `flashlab attention`: once on the command's tensors, or measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention_cuda/gpu.hpp"
#include "attention_cuda/roofline.hpp"
#include "attention_cuda/samples.hpp"
#include "cli/attention/run.hpp"

namespace flashlab::cli {

/// The current GPU. Throws Failure where there is none, or no library of kernels.
cuda::GpuInfo gpu_or_failure();

/// A variant that the GPU does not run on this problem, and why.
struct RefusedVariant {
  std::string variant, reason;
};

/// Takes the variants out that no kernel runs. Throws Failure where none is left, or only one was
/// asked for.
std::vector<RefusedVariant> refuse_variants(AttentionRequest& request, const cuda::GpuInfo& gpu);

/// From host memory to the GPU, the call, and back. The request must outlive it.
RunVariant run_on_gpu(const AttentionRequest& request);

struct MeasuredKernel {
  std::string variant, kernel;
  cuda::Samples samples;
  double flops = 0;  // by the usual count
  std::size_t workspace_bytes = 0;
  std::optional<cuda::PeakRates> peak;  // none known of this GPU
  double floor_ms = 0;                  // by these rates

  double flops_per_s() const { return flops / (1e-3 * samples.median()); }
};

/// New inputs each time, outputs that start as NaN. Throws Failure, also for a time below the
/// floor.
std::vector<MeasuredKernel> measure_on_gpu(const AttentionRequest& request, int repeat,
                                           const cuda::GpuInfo& gpu);

/// Throws Failure.
void check_floor(const MeasuredKernel& measured, const cuda::GpuInfo& gpu);

/// The kernels of one variant.
struct KernelBreakdown {
  std::string variant, kernel;
  std::vector<cuda::KernelTotal> launches;  // medians

  double total_ms() const;
};

std::vector<KernelBreakdown> measure_by_kernel(const AttentionRequest& request, int repeat);

}  // namespace flashlab::cli
