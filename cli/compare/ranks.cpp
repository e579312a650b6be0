#include "cli/compare/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "attention_cuda/door/door.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "compare/rows/rank_rows.hpp"

namespace flashlab::cli {
namespace {

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

/// One problem by one variant on one number of GPUs.
struct RanksCall {
  std::string variant;
  ShardedProblem problem;
};

AttentionProblem problem_of(const compare::SweepAxes& axes, DataType dtype, Mask mask,
                            std::int64_t head_dim, std::int64_t seqlen) {
  AttentionProblem problem;
  problem.dtype = dtype;
  problem.mask = mask;
  problem.head_dim = head_dim;
  problem.seqlen_q = seqlen;
  problem.seqlen_k = axes.seqlen_k.value_or(seqlen);
  problem.num_heads = axes.hidden ? *axes.hidden / head_dim : axes.num_heads;
  problem.num_kv_heads = axes.num_kv_heads.value_or(problem.num_heads);
  problem.batch = axes.tokens ? std::max<std::int64_t>(1, *axes.tokens / seqlen) : axes.batch;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  return whole_problem(problem, problem.options());
}

std::vector<RanksCall> calls_of(const CompareFlags& flags) {
  const compare::SweepAxes axes = flags.axes();
  std::vector<RanksCall> calls;
  for (const std::string& variant : axes.variants) {
    for (const DataType dtype : axes.dtypes) {
      for (const Mask mask : axes.masks) {
        for (const std::int64_t head_dim : axes.head_dims) {
          for (const std::int64_t seqlen : axes.seqlens) {
            for (const int gpus : flags.num_gpus()) {
              const Sharding order =
                  mask == Mask::kNone ? Sharding::kContiguous : Sharding::kZigzag;
              calls.push_back(
                  {variant, {problem_of(axes, dtype, mask, head_dim, seqlen), {order, gpus}}});
            }
          }
        }
      }
    }
  }
  return calls;
}

/// Returns the median time of the call here; 0, and why in `why_not`, if it cannot be measured.
double measured_ms(const CompareFlags& flags, const RanksCall& call, std::string& why_not) {
  try {
    cuda::door::GpuCall gpu_call = {call.variant, call.problem.whole, {}};
    gpu_call.shards = call.problem.shards;
    return cuda::door::sample(gpu_call, flags.repeat.value_or(kUsualRepeat), flags.seed)
        .samples.median();
  } catch (const std::exception& error) {
    why_not = error.what();
    return 0;
  }
}

}  // namespace

int compare_ranks(const CompareFlags& flags, const compare::MachineModel& machine,
                  const compare::MachineModel& data_sheet, bool measures) {
  const compare::LinkModel link = compare::measured_link();
  const Terminal terminal = flags.terminal.terminal();
  std::vector<Column> columns = {{"variant"},
                                 {"mask"},
                                 {"N", Align::kRight},
                                 {"GPUs", Align::kRight},
                                 {"compute", Align::kRight},
                                 {"link", Align::kRight},
                                 {"exposed", Align::kRight},
                                 {"ms", Align::kRight},
                                 {"share", Align::kRight}};
  const bool is_committed = !flags.measured.empty();
  if (measures || is_committed) {
    columns.push_back({"measured", Align::kRight});
    columns.push_back({"ratio", Align::kRight});
  }
  TextTable table(columns);
  std::string why_not;
  try {
    for (const RanksCall& call : calls_of(flags)) {
      const compare::RankRow row =
          compare::predict_ranks(call.variant, call.problem, machine, data_sheet, link);
      const double measured =
          measures ? measured_ms(flags, call, why_not)
                   : compare::committed_ms(call.variant, call.problem, machine.gpu.key).value_or(0);
      const int gpus = call.problem.shards.num_ranks;
      std::vector<std::string> cells = {call.variant,
                                        std::string(to_string(call.problem.whole.mask)),
                                        grouped_number(call.problem.whole.seqlen_q),
                                        std::to_string(gpus),
                                        fixed(row.times.compute_ms, 2),
                                        fixed(row.times.link_ms, 2),
                                        fixed(row.times.exposed_ms(), 2),
                                        fixed(row.times.total_ms, 2),
                                        fixed(row.efficiency(gpus), 2)};
      if (measures || is_committed) {
        cells.push_back(measured > 0 ? fixed(measured, 2) : "-");
        cells.push_back(measured > 0 ? fixed(row.times.total_ms / measured, 2) : "-");
      }
      table.row(cells);
    }
  } catch (const ProblemError& error) {
    throw request_failure("--" + error.field + " " + error.value, error.expected);
  } catch (const std::overflow_error& error) {
    throw Failure(kExitLimit, std::string("flashlab: error: ") + error.what() + "\n");
  }
  std::cout << machine.gpu.name << "; link " << fixed(1e-9 * link.bytes_per_s, 0)
            << " GB/s each way after " << fixed(1e3 * link.latency_ms, 0) << " us (" << link.source
            << ")\n\n"
            << table.to_string(terminal)
            << "\nms: predicted, of the GPU that ends last. exposed: it waits. share: T1 / (R T).\n"
            << (is_committed && !measures
                    ? "measured: in docs/results/attention_cuda_ranks*.json.\n"
                    : "");
  if (!why_not.empty()) std::cerr << "not measured: " << why_not << "\n";
  return kExitGood;
}

}  // namespace flashlab::cli
