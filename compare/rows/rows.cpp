#include "compare/rows/rows.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "attention_cuda/tiles.hpp"
#include "compare/model/pallas_formulas.hpp"
#include "compare/model/prediction.hpp"
#include "compare/model/row_bytes.hpp"
#include "compare/model/step_traffic.hpp"
#include "compare/model/toy_counts.hpp"
#include "results/result_file.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

/// 90 for "9.0".
int compute_capability(const gpu::GpuSpec& gpu) {
  const double value = std::stod(gpu.compute_capability);
  return static_cast<int>(std::lround(10 * value));
}

bool is_causal(const AttentionProblem& problem) { return problem.mask != Mask::kNone; }

/// The toy programs use the top-left mask of the toy-model notes. The other mask is the same if
/// there are as many queries as keys.
void check_mask(const AttentionProblem& problem) {
  if (problem.mask == Mask::kCausalBottomRight && problem.seqlen_q != problem.seqlen_k) {
    throw ProblemError("mask", to_string(problem.mask),
                       "causal (top left) if the numbers of queries and keys differ, because "
                       "the toy programs have no other causal mask");
  }
}

/// No count of FLOPs or bytes may exceed 2^63. The largest are 14 FLOPs per score and column, and
/// 48 bytes per score.
void check_counts(const AttentionProblem& p) {
  const double scores = static_cast<double>(p.batch) * static_cast<double>(p.num_heads) *
                        static_cast<double>(p.seqlen_q) * static_cast<double>(p.seqlen_k);
  constexpr double kMost = 0x1p62;
  if (scores * std::max(14.0 * static_cast<double>(p.head_dim), 48.0) < kMost) return;
  throw std::overflow_error("batch x heads x N x N x d: a count would exceed 2^63");
}

std::string toy_name(std::string variant) {
  std::replace(variant.begin(), variant.end(), '-', '_');
  return variant;
}

ToyParameters parameters_of(const Call& call, const cuda::LaunchTiles& launch) {
  constexpr std::int64_t kAnyTile = 64;  // the tile does not matter here
  const AttentionProblem& problem = call.problem;
  ToyParameters parameters{problem.seqlen_q,
                           problem.seqlen_k,
                           problem.head_dim,
                           launch.block_q > 0 ? launch.block_q : kAnyTile,
                           launch.block_kv > 0 ? launch.block_kv : kAnyTile,
                           std::nullopt};
  if (call.tile && launch.block_q > 0) {
    parameters.B = call.tile->block_q;
    parameters.Bk = call.tile->block_kv;
  }
  if (launch.num_splits > 0) parameters.splits = launch.num_splits;
  return parameters;
}

void set_arithmetic(Work& work, const ToyCounts& counts, std::int64_t heads) {
  work.product_flops = heads * counts.product_flops;
  work.elementwise_flops = heads * counts.elementwise_flops;
  work.divisions = heads * counts.divisions;
  work.exps = heads * counts.exps;
}

Step shape_of(const Call& call, const cuda::LaunchTiles& launch) {
  Step step;
  step.name = launch.name;
  step.num_launches = launch.num_launches;
  step.num_blocks = launch.num_tiles();
  step.block_q = launch.block_q;
  step.block_kv = launch.block_kv;
  step.num_threads = launch.num_threads;
  step.shared_bytes = launch.shared_bytes;
  if (call.tile && launch.block_q > 0) {  // a block that does not exist
    step.block_q = static_cast<int>(call.tile->block_q);
    step.block_kv = static_cast<int>(call.tile->block_kv);
    step.num_blocks = 0;
    step.num_threads = 0;
    step.shared_bytes = 0;
  }
  return step;
}

void add(Traffic& sum, const Traffic& traffic) {
  sum.bytes_read += traffic.bytes_read;
  sum.bytes_written += traffic.bytes_written;
}

Work work_of_all(const std::vector<Step>& steps) {
  Work sum;
  sum.sm = Traffic{};
  for (const Step& step : steps) {
    add(sum.dram, step.work.dram);
    if (!step.work.sm) sum.sm.reset();
    if (sum.sm) add(*sum.sm, *step.work.sm);
    sum.product_flops += step.work.product_flops;
    sum.elementwise_flops += step.work.elementwise_flops;
    sum.divisions += step.work.divisions;
    sum.exps += step.work.exps;
  }
  return sum;
}

/// Counts the pass of the kernel's program for each step. `temporary_bytes`: of the step with the
/// most.
std::vector<Step> count_steps(const Call& call, const cuda::KernelTiles& kernel,
                              std::int64_t l2_bytes, std::int64_t& temporary_bytes) {
  std::vector<Step> steps;
  std::vector<std::string> in_l2;
  for (const cuda::LaunchTiles& launch : kernel.launches) {
    Step step = shape_of(call, launch);
    if (launch.is_counted) {
      const ToyCounts counts =
          count_toy(kernel.toy_program, parameters_of(call, launch), launch.toy_pass);
      const StepTraffic traffic(call.problem, launch, counts);
      step.work.dram = traffic.dram(l2_bytes, in_l2);
      if (!launch.is_library) step.work.sm = traffic.sm();
      set_arithmetic(step.work, counts, traffic.heads());
      temporary_bytes = std::max(temporary_bytes, traffic.temporaries());
      in_l2 = traffic.footprint() <= l2_bytes ? traffic.touched() : std::vector<std::string>();
    } else {
      step.work.sm = launch.moved ? Traffic{launch.moved->read, launch.moved->written} : Traffic{};
      step.work.dram = *step.work.sm;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

/// A launch that represents the whole program: the types of all arrays, and the tile of the largest
/// launch, if no launch is a library's.
cuda::LaunchTiles whole_program(const cuda::KernelTiles& kernel) {
  cuda::LaunchTiles whole;
  const bool has_library = std::any_of(kernel.launches.begin(), kernel.launches.end(),
                                       [](const auto& launch) { return launch.is_library; });
  for (const cuda::LaunchTiles& launch : kernel.launches) {
    if (!launch.is_counted) continue;
    if (!has_library && launch.block_q * launch.block_kv > whole.block_q * whole.block_kv) {
      whole.block_q = launch.block_q;
      whole.block_kv = launch.block_kv;
    }
    whole.num_splits = std::max(whole.num_splits, launch.num_splits);
    for (const auto names :
         {&cuda::LaunchTiles::elements_loaded, &cuda::LaunchTiles::elements_stored}) {
      (whole.*names).insert((whole.*names).end(), (launch.*names).begin(), (launch.*names).end());
    }
  }
  return whole;
}

/// Counts the toy program on one worker.
Work count_on_one_worker(const Call& call, const cuda::KernelTiles& kernel,
                         std::int64_t& workspace_bytes) {
  const cuda::LaunchTiles launch = whole_program(kernel);
  const std::string program = toy_name(call.variant) + (is_causal(call.problem) ? "_causal" : "");
  const ToyCounts counts = count_toy(program, parameters_of(call, launch));
  const StepTraffic traffic(call.problem, launch, counts);
  Work work;
  work.sm = traffic.sm();
  work.dram = traffic.dram(INT64_MAX, {});
  set_arithmetic(work, counts, traffic.heads());
  workspace_bytes = 0;
  for (const ArrayCount& array : counts.arrays) {
    if (array.is_temporary) {
      workspace_bytes += array.size * traffic.heads() * kFloatBytes;
    }
  }
  return work;
}

void set_problem(const Call& call, Row& row) {
  const AttentionProblem& problem = call.problem;
  row.variant = call.variant;
  row.pass = find_variant(call.variant).pass;
  row.dtype = to_string(problem.dtype);
  row.products = to_string(call.products);
  row.mask = to_string(problem.mask);
  row.batch = problem.batch;
  row.num_heads = problem.num_heads;
  row.num_kv_heads = problem.num_kv_heads;
  row.seqlen_q = problem.seqlen_q;
  row.seqlen_k = problem.seqlen_k;
  row.head_dim = problem.head_dim;
  if (call.tile) row.tile = to_string(*call.tile);
  row.usual_flops = row.pass == Pass::kForward ? forward_flops(problem) : backward_flops(problem);
}

std::int64_t tensor_bytes(const Row& row, std::int64_t element) {
  const std::int64_t lse = row.batch * row.num_heads * row.seqlen_q * kFloatBytes;
  const std::int64_t passes = row.pass == Pass::kForward ? 1 : 2;  // Q, O | dQ, dO; K, V | dK, dV
  return passes * (2 * q_bytes(row, element) + 2 * k_bytes(row, element)) + lse;
}

std::string gigabytes(double bytes) { return fixed_text(1e-9 * bytes, 1) + " GB"; }

/// Why a call does not fit into memory. Empty: it may fit; a kernel needs more than its arguments
/// and the temporary arrays of one step.
std::string why_it_does_not_fit(std::int64_t least_bytes, const gpu::GpuSpec& gpu) {
  constexpr double kGiBPerGB = 1.073741824;  // a data sheet's GB may be GiB
  const auto least = static_cast<double>(least_bytes),
             memory = static_cast<double>(gpu.memory_bytes);
  if (memory <= 0 || least <= kGiBPerGB * memory) return {};
  return std::string(kDoesNotFit) + "at least " + gigabytes(least) + " needed, " + gpu.name +
         " has " + short_text(1e-9 * memory) + " GB";
}

/// The formulas of the Pallas post require square problems without a mask, and as many heads of K
/// as of Q.
void set_pallas_figures(const MachineModel& data_sheet, std::int64_t element, Row& row) {
  if (row.mask != "none" || row.seqlen_q != row.seqlen_k || row.num_heads != row.num_kv_heads) {
    return;
  }
  const PallasShape shape{row.batch, row.num_heads, row.seqlen_q, row.head_dim, element};
  std::int64_t block_q = 0;
  for (const Step& step : row.steps) block_q = std::max<std::int64_t>(block_q, step.block_q);
  row.pallas_bytes = pallas_bytes(row.variant, shape, block_q);
  row.pallas_ms = pallas_ms(row.variant, shape, data_sheet, row.dtype, row.products);
}

}  // namespace

std::string to_string(const Tile& tile) {
  return std::to_string(tile.block_q) + "x" + std::to_string(tile.block_kv);
}

Row predict_row(const Call& call, const MachineModel& machine, const MachineModel& data_sheet) {
  check_mask(call.problem);
  check_counts(call.problem);
  const gpu::GpuSpec& gpu = machine.gpu;
  cuda::ExecutionOptions execution;
  execution.products = call.products;
  execution.kernel = call.kernel;
  execution.continues_dQ = call.continues_dQ;
  execution.keeps_dQ = call.keeps_dQ;
  const cuda::KernelTiles kernel = cuda::kernel_tiles(
      call.variant, call.problem, execution,
      {compute_capability(gpu), static_cast<int>(gpu.num_sms), gpu.shared_memory_per_block_bytes});
  const std::int64_t element = size_in_bytes(call.problem.dtype);
  Row row;
  set_problem(call, row);
  row.kernel = kernel.stem;
  row.tensor_bytes = tensor_bytes(row, element);
  row.toy = count_on_one_worker(call, kernel, row.workspace_bytes);
  std::int64_t temporary_bytes = 0;
  row.steps = count_steps(call, kernel, gpu.l2_bytes.value_or(0), temporary_bytes);
  row.failure = why_it_does_not_fit(row.tensor_bytes + temporary_bytes, gpu);
  row.work = work_of_all(row.steps);
  for (std::size_t k = 0; k < row.steps.size(); ++k) {
    Step& step = row.steps[k];
    step.predicted = predict_launch(
        step, kernel.launches[k], machine,
        {row.dtype, row.products, row.head_dim, is_causal(call.problem),
         kernel.launches[k].has_key_blocks(), call.problem.seqlen_q, call.problem.seqlen_k},
        kernel.product_instruction);
  }
  row.predicted = in_turn(row.steps);
  set_pallas_figures(data_sheet, element, row);
  row.prediction_sha256 = prediction_sha256(row);
  return row;
}

}  // namespace flashlab::compare
