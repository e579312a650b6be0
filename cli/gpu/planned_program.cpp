#include "cli/gpu/planned_program.hpp"

#include <algorithm>
#include <utility>

#include "cli/terminal/failure.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::cli {
namespace {

/// Throws Failure unless the indices of all instructions are in range. If that is not proved, it
/// takes a run on shapes to know.
void require_indices_in_range(const toy::BoundProgram& bound, const toy::SourceText& source) {
  const auto is_proven = [](const toy::BoundOperand& operand) {
    return operand.proven_in_range || operand.kind == toy::OperandKind::kOffset ||
           operand.kind == toy::OperandKind::kConstant;
  };
  const bool all = std::all_of(bound.instructions.begin(), bound.instructions.end(),
                               [&](const toy::BoundInstruction& instruction) {
                                 return std::all_of(instruction.operands.begin(),
                                                    instruction.operands.end(), is_proven);
                               });
  if (!all) (void)value_or_fail(toy::run_shapes(bound), source);
}

std::int64_t whole(const toy::Count& count) {
  if (count.fits_slong_p()) return count.get_si();
  throw Failure(kExitLimit, "flashlab: error: a count of 2^63 or more: expected smaller sizes\n");
}

/// Traffic of the arrays that the launch's passes touch.
void add_traffic(const toy::BoundProgram& bound, const toy::Counters& counters,
                 const toy::Count& problems, compare::Work& work) {
  for (std::size_t a = 0; a < bound.arrays.size(); ++a) {
    const toy::ArrayTraffic& traffic = counters.by_array[a];
    const toy::Count size = static_cast<long>(bound.arrays[a].size);
    const toy::Count bytes =
        problems * static_cast<long>(toy::element_bytes(bound.arrays[a].element_type));
    const toy::Count written = traffic.elements_stored + traffic.elements_updated;
    work.dram.bytes_read += whole(std::min(size, traffic.elements_loaded) * bytes);
    work.dram.bytes_written += whole(std::min(size, written) * bytes);
    work.sm->bytes_written += whole(written * bytes);
  }
}

}  // namespace

PlannedProgram planned_program(toy::BoundProgram bound, const std::string& name,
                               const GpuTarget& target) {
  const toy::SourceText& source = *bound.program->source;
  PlannedProgram program;
  program.name = name;
  program.type = target.type;
  if (target.level == 2) program.target.shared_bytes = generate::kMostSharedBytes;
  if (target.shared_bytes) program.target.shared_bytes = *target.shared_bytes;
  if (target.level > 0) program.target.factors = target.type;
  program.target.has_warpgroups = target.level == 2;
  program.bound = std::move(bound);
  program.kept = generate::set_element_type(program.bound, target.type);
  program.executions = value_or_fail(toy::count_executions(program.bound), source);
  require_indices_in_range(program.bound, source);
  program.plan = value_or_fail(generate::plan(program.bound, program.target), source);
  return program;
}

PlannedProgram planned_program(const MachineOptions& machine, const LoadedProgram& loaded,
                               toy::ElementType type, int level) {
  if (level > 0 && !toy::is_narrow(type)) {
    throw request_failure(
        "--level " + std::to_string(level) + " with --dtype " + generate::to_string(type),
        "bf16 or fp16, which tensor cores multiply");
  }
  toy::CapacityBinding binding = machine.binding();
  GpuTarget target{type, level, std::exchange(binding.sram_bytes, std::nullopt)};
  return planned_program(loaded.bind(binding), loaded.short_name(), target);
}

toy::Count loaded_bytes(const PlannedProgram& program, const generate::Launch& launch) {
  toy::Count bytes = 0;
  for (const std::size_t pass : launch.passes) {
    bytes += toy::count_pass(program.bound, program.executions, {}, pass).bytes_loaded;
  }
  for (const generate::RepeatedLoad& load : launch.repeated) {
    bytes += toy::Count(static_cast<long>(load.bytes)) * static_cast<long>(launch.blocks - 1);
  }
  return bytes;
}

compare::Work work_of(const PlannedProgram& program, const generate::Launch& launch,
                      std::int64_t problems) {
  const toy::Count copies = static_cast<long>(problems);
  compare::Work work;
  work.sm.emplace();
  work.sm->bytes_read = whole(loaded_bytes(program, launch) * copies);
  for (const std::size_t pass : launch.passes) {
    add_traffic(program.bound, toy::count_pass(program.bound, program.executions, {}, pass), copies,
                work);
  }
  const std::size_t division = *toy::find_instruction("DIV");
  generate::for_each_instruction(
      program.bound, launch, [&](const toy::BoundInstruction& instruction) {
        const toy::InstructionSpec& spec = toy::instruction_set()[instruction.row];
        const std::int64_t flops =
            whole(program.executions.work[instruction.site] * spec.flops * copies);
        if (spec.flop_kind == toy::FlopKind::kProduct) {
          work.product_flops += flops;
        } else if (spec.flop_kind == toy::FlopKind::kExponential) {
          work.exps += flops;
        } else {
          work.elementwise_flops += flops;
          if (instruction.row == division) work.divisions += flops;
        }
      });
  return work;
}

}  // namespace flashlab::cli
