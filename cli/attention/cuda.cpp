#include "cli/attention/cuda.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "attention_cuda/kernel_listing.hpp"
#include "attention_cuda/tiles.hpp"
#include "cli/attention/cuda_report.hpp"
#include "cli/attention/report.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

struct GpuResults {
  cuda::GpuInfo gpu;
  std::vector<RefusedVariant> refused;
  std::vector<AttentionSummary> summaries;
  std::optional<Verification> verification;
  std::optional<std::vector<MeasuredKernel>> measured;
  std::optional<std::vector<KernelBreakdown>> breakdowns;
};

void print_gpu_json(const AttentionRequest& request, const GpuResults& results) {
  nlohmann::ordered_json document = {{"format", "flashlab-attention"},
                                     {"version", kAttentionJsonVersion},
                                     {"device", "cuda"},
                                     {"gpu", gpu_json(results.gpu)},
                                     {"products", request.gpu.products}};
  if (const auto& shards = request.gpu.shards) {
    document["gpus"] = shards->num_ranks;
    document["sharding"] = to_string(shards->sharding);
    document["processes"] = request.gpu.ranks.process ? shards->num_ranks : 1;
  }
  document["problem"] = request_json(request);
  for (const auto& [variant, reason] : results.refused) document["not_run"][variant] = reason;
  if (!results.summaries.empty()) document["runs"] = summaries_json(results.summaries);
  if (results.verification) document["verification"] = verification_json(*results.verification);
  if (results.measured) document["measurement"] = measured_kernels_json(*results.measured);
  if (results.breakdowns) document["by_kernel"] = breakdowns_json(*results.breakdowns);
  std::cout << document.dump(2) << "\n";
}

void print_gpu_text(const AttentionRequest& request, const GpuResults& results,
                    const Terminal& terminal) {
  const std::string products =
      request.gpu.products == "native" ? "" : ", " + request.gpu.products + " products";
  std::string where = results.gpu.name;
  if (const auto& shards = request.gpu.shards) {
    where = counted(shards->num_ranks, "GPU") + " (" + where + "), " +
            std::string(to_string(shards->sharding));
    if (request.gpu.ranks.process) where += ", a process each";
  }
  std::cout << in_lines(request.description() + "; " + where + products, terminal);
  if (!results.summaries.empty()) std::cout << "\n" << summaries_text(results.summaries, terminal);
  if (results.verification) {
    std::cout << "\n" << verification_text(*results.verification, terminal);
  }
  if (results.measured) {
    std::cout << "\n" << measured_kernels_text(*results.measured, results.gpu, terminal);
  }
  if (results.breakdowns) std::cout << "\n" << breakdowns_text(*results.breakdowns, terminal);
  if (!results.refused.empty()) std::cout << "\n";
  for (const auto& [variant, reason] : results.refused) {
    std::cout << in_lines("not run: " + variant + ": " + reason, terminal);
  }
}

/// Rejects sizes whose product exceeds 64 bits, before anything is computed from them.
void check_sizes(const AttentionProblem& p) {
  element_count("Q", {p.batch, p.num_heads, p.seqlen_q, p.head_dim});
  element_count("K", {p.batch, p.num_kv_heads, p.seqlen_k, p.head_dim});
}

void check_kernel(const AttentionRequest& request) {
  if (request.gpu.kernel.empty()) return;
  for (const cuda::KernelListing& kernel : cuda::kernel_listings()) {
    if (kernel.stem == request.gpu.kernel) return;
  }
  throw request_failure("no kernel is called " + request.gpu.kernel,
                        "one that `flashlab attention --list` shows");
}

/// Without --variant, the kernel's name, or else the problem and the GPU determine it.
void choose_variant(const AttentionFlags& flags, const cuda::GpuInfo& gpu,
                    AttentionRequest& request) {
  if (flags.variant.value_or(std::string(cuda::kAutoVariant)) != cuda::kAutoVariant) return;
  if (request.gpu.shards) return;
  const cuda::GpuLimits limits = {gpu.compute_capability, gpu.num_multiprocessors,
                                  gpu.shared_memory_per_block_bytes};
  request.variants = {&find_variant(auto_variant(request, limits))};
}

}  // namespace

int attention_on_gpu(const AttentionFlags& flags, const AttentionRequest& asked) {
  AttentionRequest request = asked;
  check_sizes(request.problem);
  check_kernel(request);
  GpuResults results;
  results.gpu = gpu_or_failure();
  choose_variant(flags, results.gpu, request);
  results.refused = refuse_variants(request, results.gpu);
  const RunVariant run = run_on_gpu(request);
  if (!flags.verify && !flags.bench && !flags.by_kernel) {
    results.summaries = run_once(request, run);
  }
  if (flags.verify) results.verification = verify_attention(request, run);
  if (flags.bench) results.measured = measure_on_gpu(request, flags.num_runs(), results.gpu);
  if (flags.by_kernel) results.breakdowns = measure_by_kernel(request, flags.num_runs());
  if (request.gpu.is_silent()) return kExitGood;
  if (flags.json) {
    print_gpu_json(request, results);
  } else {
    print_gpu_text(request, results, flags.terminal.terminal());
  }
  return results.verification && !results.verification->agrees() ? kExitProgramWrong : kExitGood;
}

}  // namespace flashlab::cli
