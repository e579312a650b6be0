#include "compare/rows/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "attention_cuda/kernel_listing.hpp"
#include "text/lists.hpp"

namespace flashlab::compare {
namespace {

/// Empty: there is no such kernel.
std::string_view variant_of_kernel(std::string_view stem) {
  const auto listings = cuda::kernel_listings();
  const auto found = std::ranges::find(listings, stem, &cuda::KernelListing::stem);
  return found == listings.end() ? std::string_view() : found->variant;
}

constexpr std::int64_t kMostHeadDim = 512, kMostSeqlen = std::int64_t{1} << 30;

void check_size(const char* what, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return;
  throw ProblemError(what, std::to_string(value), "a number from 1 to " + std::to_string(most));
}

AttentionProblem problem_of(const SweepAxes& axes, DataType dtype, Mask mask, std::int64_t seqlen,
                            std::int64_t head_dim) {
  AttentionProblem problem;
  problem.batch = axes.tokens ? std::max<std::int64_t>(1, *axes.tokens / seqlen) : axes.batch;
  problem.num_heads =
      axes.hidden ? std::max<std::int64_t>(1, *axes.hidden / head_dim) : axes.num_heads;
  problem.num_kv_heads = axes.num_kv_heads.value_or(problem.num_heads);
  problem.seqlen_q = seqlen;
  problem.seqlen_k = axes.seqlen_k.value_or(seqlen);
  problem.head_dim = head_dim;
  problem.dtype = dtype;
  problem.mask = mask;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  check_size("batch", problem.batch, INT32_MAX);
  check_size("heads", problem.num_heads, INT32_MAX);
  check_size("n", problem.seqlen_q, kMostSeqlen);
  check_size("seqlen-k", problem.seqlen_k, kMostSeqlen);
  if (problem.num_kv_heads < 1 || problem.num_heads % problem.num_kv_heads != 0) {
    throw ProblemError(
        "kv-heads", std::to_string(problem.num_kv_heads),
        "a number that divides the " + std::to_string(problem.num_heads) + " query heads");
  }
  return problem;
}

/// A row with only the combination's values, for messages.
Row unpredicted(const Call& call) {
  Row row;
  row.variant = call.variant;
  row.dtype = to_string(call.problem.dtype);
  row.products = cuda::to_string(call.products);
  row.mask = to_string(call.problem.mask);
  row.batch = call.problem.batch;
  row.num_heads = call.problem.num_heads;
  row.num_kv_heads = call.problem.num_kv_heads;
  row.seqlen_q = call.problem.seqlen_q;
  row.seqlen_k = call.problem.seqlen_k;
  row.head_dim = call.problem.head_dim;
  if (call.tile) row.tile = to_string(*call.tile);
  return row;
}

/// Measured, or tried.
bool has_result(const Row& row) { return row.measured || !row.failure.empty(); }

void merge(Row& into, const Row& from) {
  into.measured = from.measured;
  if (has_result(from)) into.failure = from.failure;
  for (Step& step : into.steps) {
    const auto found = std::find_if(from.steps.begin(), from.steps.end(),
                                    [&](const Step& other) { return other.name == step.name; });
    if (found != from.steps.end()) step.measured = found->measured;
  }
}

void count_within(const std::optional<double>& ratio, double tolerance, Share& share) {
  if (!ratio) return;
  ++share.num_all;
  share.num_close += std::abs(*ratio - 1) <= tolerance ? 1 : 0;
}

/// The kernels that the axes name for a variant; one empty name if there are none.
std::vector<std::string> kernels_of(const SweepAxes& axes, std::string_view variant) {
  std::vector<std::string> stems;
  for (const std::string& stem : axes.kernels) {
    if (variant_of_kernel(stem) == variant) stems.push_back(stem);
  }
  if (stems.empty()) stems.emplace_back();
  return stems;
}

void check_kernels(const SweepAxes& axes) {
  for (const std::string& stem : axes.kernels) {
    const std::string_view variant = variant_of_kernel(stem);
    if (std::ranges::find(axes.variants, variant) != axes.variants.end()) continue;
    throw ProblemError(
        "kernel", stem,
        variant.empty() ? "a kernel that `flashlab attention --list` shows"
                        : "a kernel of one of the variants; it is one of " + std::string(variant));
  }
}

bool is_same_call(const Row& row, const Row& other) {
  return row.kernel == other.kernel && key_of(row) == key_of(other);
}

}  // namespace

std::vector<Call> calls_of(const SweepAxes& axes) {
  std::vector<std::optional<Tile>> tiles(axes.tiles.begin(), axes.tiles.end());
  if (tiles.empty()) tiles.emplace_back();
  std::vector<Call> calls;
  for (const std::string& variant : axes.variants) find_variant(variant);
  check_kernels(axes);
  for (const std::int64_t head_dim : axes.head_dims) check_size("head-dim", head_dim, kMostHeadDim);
  for (const DataType dtype : axes.dtypes) {
    for (const cuda::Products products : axes.products) {
      if (dtype != DataType::kFloat32 && products != cuda::Products::kNative) continue;
      for (const Mask mask : axes.masks) {
        for (const std::int64_t head_dim : axes.head_dims) {
          for (const std::string& variant : axes.variants) {
            for (const std::string& kernel : kernels_of(axes, variant)) {
              for (const std::optional<Tile>& tile : tiles) {
                for (const std::int64_t seqlen : axes.seqlens) {
                  calls.push_back({variant, problem_of(axes, dtype, mask, seqlen, head_dim),
                                   products, tile, kernel});
                }
              }
            }
          }
        }
      }
    }
  }
  return calls;
}

void take_kernels(const std::vector<Row>& measured, std::vector<Call>& calls) {
  for (Call& call : calls) {
    if (!call.kernel.empty()) continue;
    const std::string key = key_of(unpredicted(call));
    const auto found = std::ranges::find_if(measured, [&](const Row& row) {
      return key_of(row) == key && variant_of_kernel(row.kernel) == call.variant;
    });
    if (found != measured.end()) call.kernel = found->kernel;
  }
}

std::vector<Call> with_measured_shapes(const std::vector<Row>& measured,
                                       const std::vector<Call>& calls) {
  std::vector<Call> result;
  for (const Call& call : calls) {
    const Row wanted = unpredicted(call);
    const auto fits = [&](const Row& row) {
      return row.measured && row.variant == wanted.variant && row.dtype == wanted.dtype &&
             row.products == wanted.products && row.mask == wanted.mask &&
             row.seqlen_q == wanted.seqlen_q && row.seqlen_k == wanted.seqlen_k &&
             row.head_dim == wanted.head_dim && (call.kernel.empty() || row.kernel == call.kernel);
    };
    const std::string key = key_of(wanted);
    std::set<std::string> taken;
    std::vector<Call> others;
    for (const Row& row : measured) {
      if (!fits(row) || !taken.insert(key_of(row)).second) continue;
      others.push_back(call);
      others.back().problem.batch = row.batch;
      others.back().problem.num_heads = row.num_heads;
      others.back().problem.num_kv_heads = row.num_kv_heads;
    }
    if (others.empty() || taken.contains(key)) others = {call};
    result.insert(result.end(), others.begin(), others.end());
  }
  return result;
}

std::vector<std::string> measured_sizes(const std::vector<Row>& measured,
                                        const std::string& variant, const std::string& dtype) {
  std::map<std::pair<std::string, std::int64_t>, std::set<std::int64_t>> lengths;  // by flags, d
  for (const Row& row : measured) {
    if (!row.measured || row.variant != variant || row.dtype != dtype) continue;
    const std::string flags = "--tokens " + std::to_string(row.batch * row.seqlen_q) +
                              " --hidden " + std::to_string(row.num_heads * row.head_dim);
    lengths[{flags, row.head_dim}].insert(row.seqlen_q);
  }
  std::vector<std::string> texts;
  for (const auto& [key, all] : lengths) {
    texts.push_back("N " + joined(all, ", ", [](std::int64_t n) { return std::to_string(n); }) +
                    " at d " + std::to_string(key.second) + " (" + key.first + ")");
  }
  return texts;
}

std::vector<Row> predict_rows(const std::vector<Call>& calls, const MachineModel& machine,
                              const MachineModel& data_sheet, std::vector<RefusedCall>& refused) {
  return measured_or_predicted_rows(calls, {}, machine, data_sheet, refused);
}

std::vector<Row> measured_or_predicted_rows(const std::vector<Call>& calls,
                                            const std::vector<Row>& measured,
                                            const MachineModel& machine,
                                            const MachineModel& data_sheet,
                                            std::vector<RefusedCall>& refused) {
  std::vector<Row> rows;
  for (const Call& call : calls) {
    const std::string key = key_of(unpredicted(call));
    const auto known = std::ranges::find_if(measured, [&](const Row& row) {
      return has_result(row) && row.kernel == call.kernel && key_of(row) == key;
    });
    try {
      rows.push_back(known != measured.end() ? *known : predict_row(call, machine, data_sheet));
    } catch (const std::invalid_argument& error) {  // ProblemError; a rate that the GPU lacks
      refused.push_back({key, error.what()});
    }
  }
  return rows;
}

int predict_again(std::vector<Row>& rows, const MachineModel& machine,
                  const MachineModel& data_sheet) {
  int num_again = 0;
  for (Row& row : rows) {
    if (!row.tile.empty()) continue;
    try {
      Row predicted = predict_row(call_of(row), machine, data_sheet);
      if (predicted.kernel != row.kernel) continue;
      merge(predicted, row);
      row = std::move(predicted);
      ++num_again;
    } catch (const std::invalid_argument&) {  // ProblemError; a rate that the GPU lacks
      continue;
    }
  }
  return num_again;
}

MergeReport merge_measurements(std::vector<Row>& into, const std::vector<Row>& from) {
  MergeReport report;
  for (Row& row : into) {
    const std::string key = key_of(row);
    const auto found = std::find_if(from.begin(), from.end(),
                                    [&](const Row& other) { return is_same_call(other, row); });
    if (found == from.end() || !has_result(*found)) {
      report.not_there.push_back(&row);
      continue;
    }
    merge(row, *found);
    ++report.num_merged;
    if (row.prediction_sha256 != found->prediction_sha256) report.other_predictions.push_back(key);
  }
  return report;
}

Share close_times(const std::vector<Row>& rows, double tolerance) {
  Share share;
  for (const Row& row : rows) {
    if (row.seqlen_q >= kTimedSeqlen) count_within(time_ratio(row), tolerance, share);
  }
  return share;
}

Share close_sm_bytes(const std::vector<Row>& rows) {
  Share share;
  for (const Row& row : rows) {
    const bool is_meant =
        row.variant == "flash1" || row.variant == "flash2" || row.variant == "bwd-twopass";
    if (is_meant && row.seqlen_q >= kLongSeqlen) count_within(sm_ratio(row), kCloseBytes, share);
  }
  return share;
}

}  // namespace flashlab::compare
