#include "cli/attention/cuda_run.hpp"

#include <algorithm>
#include <iostream>

#include "attention/ranks/rank_programs.hpp"
#include "attention_cuda/door/door.hpp"
#include "cli/attention/progress_line.hpp"
#include "cli/attention/report.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

Failure failure_of(const ProblemError& error) {
  return request_failure(error.field + ": " + error.value, error.expected);
}

/// Converts exceptions: a call that the library rejects is a wrong request, missing memory is a
/// limit, and a NaN result or a failed launch is an error of the program.
template <class Work>
auto on_gpu_or_failure(const Work& work) {
  try {
    return work();
  } catch (const ProblemError& error) {
    throw failure_of(error);
  } catch (const std::bad_alloc& error) {
    throw Failure(kExitLimit, std::string("flashlab: error: ") + error.what() + "\n");
  } catch (const std::runtime_error& error) {
    throw Failure(kExitProgramWrong, std::string("flashlab: error: ") + error.what() + "\n");
  }
}

cuda::Products products_of(const AttentionRequest& request) {
  for (const auto products : cuda::kAllProducts) {
    if (to_string(products) == request.gpu.products) return products;
  }
  return cuda::Products::kNative;
}

/// The options of a requested variant. The forward pass before it uses the same products.
cuda::ExecutionOptions execution_of(const AttentionRequest& request, std::string_view variant) {
  cuda::ExecutionOptions execution;
  execution.products = products_of(request);
  const auto is_variant = [&](const VariantInfo* asked) { return asked->name == variant; };
  if (std::none_of(request.variants.begin(), request.variants.end(), is_variant)) return execution;
  execution.kernel = request.gpu.kernel;
  execution.num_splits = request.gpu.num_splits;
  execution.round_statistics = request.gpu.round_statistics;
  execution.deterministic = request.gpu.deterministic;
  return execution;
}

cuda::door::GpuCall gpu_call(const AttentionRequest& request, std::string_view variant) {
  cuda::door::GpuCall call = {std::string(variant), request.problem,
                              execution_of(request, variant)};
  const bool is_of_one_gpu = std::ranges::any_of(
      variants(), [&](const VariantInfo& each) { return each.name == variant; });
  if (!is_of_one_gpu) call.shards = request.gpu.shards;
  call.ranks = request.gpu.ranks;
  return call;
}

/// "ring of flash2: 3.1 GiB on each GPU, 2.1 GiB of tensors and 1.0 GiB besides".
std::string memory_text(const cuda::GpusProgress& progress) {
  const auto text = [](std::size_t bytes) { return byte_text(static_cast<std::int64_t>(bytes)); };
  return progress.kernels + ": " + text(progress.tensor_bytes + progress.workspace_bytes) +
         " on each GPU, " + text(progress.tensor_bytes) + " of tensors and " +
         text(progress.workspace_bytes) + " besides\n";
}

/// Says how much memory a variant over several GPUs needs, and refuses what they do not have. Runs nothing.
void state_memory(const AttentionRequest& request, const VariantInfo& variant) {
  cuda::door::GpuCall call = gpu_call(request, variant.name);
  call.on_progress = [](const cuda::GpusProgress& progress) {
    std::cerr << memory_text(progress) << std::flush;
  };
  cuda::door::sample(call, 0, request.seed);
}

MeasuredKernel measure_kernel(const AttentionRequest& request, const VariantInfo& variant,
                              int repeat, const cuda::GpuInfo& gpu) {
  cuda::door::GpuCall call = gpu_call(request, variant.name);
  ProgressLine line;
  call.on_progress = [&](const cuda::GpusProgress& progress) {
    line.show(progress.kernels + ": " + std::to_string(progress.num_done) + " of " +
              counted(progress.num_runs, "run"));
  };
  const cuda::door::SampledCall sampled = cuda::door::sample(call, repeat, request.seed);
  MeasuredKernel result;
  result.variant = variant.name;
  result.kernel = sampled.kernel;
  result.workspace_bytes = sampled.workspace_bytes;
  result.samples = sampled.samples;
  result.flops =
      static_cast<double>(variant.pass == Pass::kForward ? forward_flops(request.problem)
                                                         : backward_flops(request.problem));
  result.peak = cuda::peak_rates(gpu.name, {request.problem.dtype, products_of(request)});
  if (result.peak) {
    if (request.gpu.shards) {
      result.peak->flops_per_s *= request.gpu.shards->num_ranks;
      result.peak->bytes_per_s *= request.gpu.shards->num_ranks;
    }
    result.floor_ms = cuda::floor_ms(variant.pass, request.problem, *result.peak);
  }
  return result;
}

}  // namespace

cuda::GpuInfo gpu_or_failure() {
  try {
    return cuda::door::current_gpu();
  } catch (const cuda::door::GpuLibraryMissing& missing) {
    throw request_failure(missing.what());
  } catch (const cuda::CudaError& error) {
    throw request_failure("no GPU to run on: " + error.error + "; --device cpu needs no GPU");
  }
}

std::string_view auto_variant(const AttentionRequest& request, const cuda::GpuLimits& gpu) {
  cuda::ExecutionOptions execution;
  execution.products = products_of(request);
  execution.kernel = request.gpu.kernel;
  return on_gpu_or_failure([&] { return cuda::forward_variant(request.problem, execution, gpu); });
}

std::vector<RefusedVariant> refuse_variants(AttentionRequest& request, const cuda::GpuInfo& gpu) {
  if (request.gpu.shards) return {};  // the library checks what each GPU can
  std::vector<RefusedVariant> refused;
  std::vector<const VariantInfo*> left;
  for (const VariantInfo* const variant : request.variants) {
    try {
      cuda::find_listing(variant->name, request.problem, execution_of(request, variant->name),
                         gpu.compute_capability);
      left.push_back(variant);
    } catch (const ProblemError& error) {
      if (request.variants.size() == 1) throw failure_of(error);
      refused.push_back({std::string(variant->name), error.what()});
    }
  }
  if (left.empty()) {
    throw request_failure("no variant runs on this GPU with these flags: " +
                          refused.front().reason);
  }
  request.variants = std::move(left);
  return refused;
}

RunVariant run_on_gpu(const AttentionRequest& request) {
  return [&request](std::string_view variant, AttentionTensors& tensors) {
    return on_gpu_or_failure([&] {
      const cuda::door::GpuCall call = gpu_call(request, variant);
      const cuda::door::GpuRun run = find_any_variant(variant).pass == Pass::kForward
                                         ? cuda::door::run(call, tensors.forward())
                                         : cuda::door::run(call, tensors.backward());
      return AttentionRun{1e-3 * run.ms, static_cast<std::int64_t>(run.workspace_bytes), 0,
                          run.kernel};
    });
  };
}

std::vector<MeasuredKernel> measure_on_gpu(const AttentionRequest& request, int repeat,
                                           const cuda::GpuInfo& gpu) {
  std::vector<MeasuredKernel> result;
  if (request.gpu.shards) {  // of all of them, before the first one starts
    for (const VariantInfo* const variant : request.variants) {
      on_gpu_or_failure([&] { state_memory(request, *variant); });
    }
  }
  for (const VariantInfo* const variant : request.variants) {
    result.push_back(
        on_gpu_or_failure([&] { return measure_kernel(request, *variant, repeat, gpu); }));
    check_floor(result.back(), gpu);
  }
  return result;
}

void check_floor(const MeasuredKernel& measured, const cuda::GpuInfo& gpu) {
  if (measured.samples.least() >= measured.floor_ms) return;
  throw Failure(kExitProgramWrong, "flashlab: error: " + measured.kernel + " took " +
                                       std::to_string(measured.samples.least()) + " ms, and " +
                                       gpu.name + " cannot do it in less than " +
                                       std::to_string(measured.floor_ms) +
                                       " ms: the measurement is wrong\n");
}

double KernelBreakdown::total_ms() const {
  double total = 0;
  for (const cuda::KernelTotal& launch : launches) total += launch.ms;
  return total;
}

std::vector<KernelBreakdown> measure_by_kernel(const AttentionRequest& request, int repeat) {
  std::vector<KernelBreakdown> result;
  for (const VariantInfo* const variant : request.variants) {
    result.push_back(on_gpu_or_failure([&] {
      const cuda::door::SampledKernels sampled =
          cuda::door::sample_kernels(gpu_call(request, variant->name), repeat, request.seed);
      return KernelBreakdown{std::string(variant->name), sampled.kernel, sampled.launches};
    }));
  }
  return result;
}

}  // namespace flashlab::cli
