#include "attention_cuda/roofline.hpp"

#include <algorithm>

#include "gpu/sheets/device_name.hpp"

namespace flashlab::cuda {
namespace {

struct GpuRates {
  std::string_view name, other_models;
  double half_flops_per_s, float_flops_per_s, tf32_flops_per_s, bytes_per_s;
};

constexpr GpuRates kGpus[] = {
#include "gpu_rates.inc"
};

/// The queries of a sequence from the first to the last that see a key.
KeyRange seeing_queries(const VisibleKeys& visible) {
  if (visible.num_keys == 0) return {};
  const std::int64_t first_key = visible.first_key;
  return {visible.of_key(first_key).first, visible.of_key(first_key + visible.num_keys - 1).end};
}

/// Q, K, V, and for backward O and dO: only rows that affect the result.
double bytes_read(Pass pass, const AttentionProblem& problem) {
  double rows = 0;
  for (std::int64_t sequence = 0; sequence < problem.num_sequences(); ++sequence) {
    const VisibleKeys visible = problem.visible(sequence);
    const KeyRange queries = seeing_queries(visible);
    if (queries.count() <= 0) continue;
    const std::int64_t keys =
        visible.of_query(queries.end - 1).end - visible.of_query(queries.first).first;
    const std::int64_t like_Q = pass == Pass::kForward ? 1 : 3;
    rows += static_cast<double>(like_Q * problem.num_heads * queries.count()) +
            static_cast<double>(2 * problem.num_kv_heads * keys);
  }
  return rows * static_cast<double>(problem.head_dim * size_in_bytes(problem.dtype));
}

}  // namespace

std::optional<PeakRates> peak_rates(std::string_view gpu_name, const Arithmetic& arithmetic) {
  for (const GpuRates& row : kGpus) {
    if (!gpu::has_name_of_sheet(gpu_name, row.name, row.other_models)) continue;
    const bool is_half =
        arithmetic.dtype != DataType::kFloat32 || arithmetic.products == Products::kFloat16x3;
    const double flops_per_s = is_half                                    ? row.half_flops_per_s
                               : arithmetic.products == Products::kNative ? row.float_flops_per_s
                                                                          : row.tf32_flops_per_s;
    return PeakRates{flops_per_s, row.bytes_per_s};
  }
  return std::nullopt;
}

double floor_ms(Pass pass, const AttentionProblem& problem, const PeakRates& rates) {
  const auto flops = static_cast<double>(pass == Pass::kForward ? forward_flops(problem)
                                                                : backward_flops(problem));
  return 1e3 * std::max(flops / rates.flops_per_s, bytes_read(pass, problem) / rates.bytes_per_s);
}

}  // namespace flashlab::cuda
