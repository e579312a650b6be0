#include "cli/gpu/prediction.hpp"

#include <algorithm>

#include "compare/model/prediction.hpp"
#include "results/result_file.hpp"

namespace flashlab::cli {
namespace {

/// Instructions of exponential_of() in toy_numbers.cuh: the machine's series, bit for bit.
constexpr double kExponentialInstructions = 30;
constexpr const char* kLevel0Type = "float";

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

}  // namespace

compare::MachineModel level0_rates(const compare::MachineModel& machine, toy::ElementType real) {
  compare::MachineModel level0 = machine;
  // A product and a sum are two instructions, and read two numbers from shared memory.
  double per_s = machine.elementwise ? machine.elementwise->per_s : 0;
  if (machine.shared) {
    const double from_shared =
        machine.shared->per_s / static_cast<double>(toy::element_bytes(real));
    per_s = per_s > 0 ? std::min(per_s, from_shared) : from_shared;
  }
  level0.products.clear();
  level0.products[kLevel0Type] = {per_s, machine.elementwise && machine.elementwise->is_measured};
  if (machine.elementwise) {
    level0.exps = compare::Rate{machine.elementwise->per_s / kExponentialInstructions,
                                machine.elementwise->is_measured};
  }
  return level0;
}

compare::MachineModel machine_of(const compare::GpuSpec& gpu) {
  const auto text = compare::committed_result(gpu.key);
  if (!text) return compare::machine_model(gpu);
  return compare::machine_model(gpu, compare::parse_comparison(*text).calibration);
}

compare::Row predicted_row(const PlannedProgram& program, std::int64_t problems,
                           const compare::MachineModel& machine) {
  const compare::MachineModel level0 = level0_rates(machine, program.plan.real);
  compare::Row row;
  row.variant = row.kernel = program.name;
  row.dtype = to_string(program.type);
  row.work.sm.emplace();
  for (std::size_t i = 0; i < program.plan.launches.size(); ++i) {
    const generate::Launch& launch = program.plan.launches[i];
    compare::Step step;
    step.name = "launch " + std::to_string(i + 1);
    step.num_blocks = launch.blocks * problems;
    step.num_threads = launch.threads;
    step.shared_bytes = program.plan.shared_bytes(launch);
    step.work = work_of(program, launch, problems);
    step.predicted = compare::predict(step, level0, kLevel0Type, "native", false);
    add(step.work, row.work);
    row.steps.push_back(std::move(step));
  }
  row.toy = row.work;
  row.usual_flops = row.work.product_flops;
  row.predicted = compare::in_turn(row.steps);
  return row;
}

double least_ms(const compare::Row& row, const compare::MachineModel& data_sheet) {
  double seconds = 0;
  if (data_sheet.dram_copy) {
    seconds = static_cast<double>(row.tensor_bytes) / data_sheet.dram_copy->per_s;
  }
  const auto rate = data_sheet.products.find(kLevel0Type);
  if (rate != data_sheet.products.end()) {
    seconds = std::max(seconds, static_cast<double>(row.work.product_flops) / rate->second.per_s);
  }
  return 1e3 * seconds;
}

}  // namespace flashlab::cli
