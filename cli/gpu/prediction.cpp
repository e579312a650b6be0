#include "cli/gpu/prediction.hpp"

#include <algorithm>

#include "cli/gpu/block_lengths.hpp"
#include "cli/gpu/fragment_work.hpp"
#include "cli/gpu/level_0_block.hpp"
#include "compare/model/prediction.hpp"
#include "results/result_file.hpp"

namespace flashlab::cli {
namespace {

/// Instructions of exponential_of() in toy_numbers.cuh: the machine's series, bit for bit.
constexpr double kExponentialInstructions = 30;
/// multiply_tiles() in tensor_products.cuh: 20 loads of a warp for 32 x 8 x 16 products.
constexpr double kTensorBytesPerFlop = 20.0 * 32 * 4 / (2 * 32 * 8 * 16);
constexpr const char* kGeneratedType = "float";

void add(const compare::Work& part, compare::Work& sum) {
  sum.dram.bytes_read += part.dram.bytes_read;
  sum.dram.bytes_written += part.dram.bytes_written;
  sum.sm->bytes_read += part.sm->bytes_read;
  sum.sm->bytes_written += part.sm->bytes_written;
  sum.product_flops += part.product_flops;
  sum.elementwise_flops += part.elementwise_flops;
  sum.divisions += part.divisions;
  sum.exps += part.exps;
}

/// In fragments, exponentials are those of the hardware.
compare::Prediction predicted_in_fragments(const PlannedProgram& program,
                                           const generate::Launch& launch, compare::Step step,
                                           const compare::MachineModel& machine) {
  compare::Prediction predicted =
      compare::predict(step, machine, generate::to_string(*program.plan.factors), "native", false);
  auto work = fragment_work(program.bound, *launch.fragments);
  const std::vector<double> lengths = block_lengths(program.bound, launch);
  if (work && machine.gpu.has_clocks()) {
    const cuda::BlockProduct& scores = work->block.products.front();
    step.block_q = static_cast<int>(scores.rows);
    step.block_kv = static_cast<int>(scores.columns);
    work->request.lengths = lengths;
    compare::set_tile_time(step, work->block, work->request, machine, predicted);
  }
  return predicted;
}

compare::Prediction predicted_step(const PlannedProgram& program, const generate::Launch& launch,
                                   const compare::Step& step,
                                   const compare::MachineModel& machine) {
  const bool has_rates = machine.products.contains(generate::to_string(program.type));
  if (launch.fragments != nullptr && has_rates) {
    return predicted_in_fragments(program, launch, step, machine);
  }
  const compare::MachineModel rates = generated_rates(machine, program.plan);
  compare::Prediction predicted = compare::predict(step, rates, kGeneratedType, "native", false);
  if (launch.fragments == nullptr && machine.gpu.has_clocks()) {
    const std::vector<double> lengths = block_lengths(program.bound, launch);
    compare::WholeBlock block = level_0_block(program, launch, machine.gpu);
    block.lengths = lengths;
    compare::set_block_time(step, block, machine, predicted);
  }
  return predicted;
}

}  // namespace

compare::MachineModel generated_rates(const compare::MachineModel& machine,
                                      const generate::Plan& plan) {
  compare::MachineModel result = machine;
  // At level 0, a product and a sum are two instructions, and read two numbers.
  double per_s = machine.elementwise ? machine.elementwise->per_s : 0;
  double bytes_per_flop = static_cast<double>(toy::element_bytes(plan.real));
  if (plan.factors) {
    const auto rate = machine.products.find(generate::to_string(*plan.factors));
    per_s = rate != machine.products.end() ? rate->second.per_s : 0;
    bytes_per_flop = kTensorBytesPerFlop;
  }
  if (machine.shared) {
    const double from_shared = machine.shared->per_s / bytes_per_flop;
    per_s = per_s > 0 ? std::min(per_s, from_shared) : from_shared;
  }
  result.products.clear();
  result.products[kGeneratedType] = {per_s,
                                     machine.elementwise && machine.elementwise->is_measured};
  if (machine.elementwise) {
    result.exps = compare::Rate{machine.elementwise->per_s / kExponentialInstructions,
                                machine.elementwise->is_measured};
  }
  return result;
}

compare::MachineModel machine_of(const gpu::GpuSpec& gpu) {
  const auto text = compare::committed_result(gpu.key);
  if (!text) return compare::machine_model(gpu);
  return compare::machine_model(gpu, compare::parse_comparison(*text).calibration);
}

compare::Row predicted_row(const PlannedProgram& program, std::int64_t problems,
                           const compare::MachineModel& machine) {
  compare::Row row;
  row.variant = row.kernel = program.name;
  row.dtype = generate::to_string(program.type);
  row.work.sm.emplace();
  for (std::size_t i = 0; i < program.plan.launches.size(); ++i) {
    const generate::Launch& launch = program.plan.launches[i];
    compare::Step step;
    step.name = "launch " + std::to_string(i + 1);
    step.num_blocks = launch.blocks * problems;
    step.num_threads = launch.threads;
    step.shared_bytes = program.plan.shared_bytes(launch);
    step.work = work_of(program, launch, problems);
    step.predicted = predicted_step(program, launch, step, machine);
    add(step.work, row.work);
    row.steps.push_back(std::move(step));
  }
  row.toy = row.work;
  row.usual_flops = row.work.product_flops;
  row.predicted = compare::in_turn(row.steps);
  return row;
}

double least_ms(const compare::Row& row, const compare::MachineModel& data_sheet, bool at_level_1) {
  double seconds = 0;
  if (data_sheet.dram_copy) {
    seconds = static_cast<double>(row.tensor_bytes) / data_sheet.dram_copy->per_s;
  }
  const auto rate = data_sheet.products.find(at_level_1 ? row.dtype : kGeneratedType);
  if (rate != data_sheet.products.end()) {
    seconds = std::max(seconds, static_cast<double>(row.work.product_flops) / rate->second.per_s);
  }
  return 1e3 * seconds;
}

}  // namespace flashlab::cli
