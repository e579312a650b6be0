// `flashlab gpu`: a program of the machine as CUDA C++.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/gpu/plan_report.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "generate/source/cuda_source.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::cli {
namespace {

struct GpuProgramFlags {
  std::string program;
  bool emit = false, plan = false, json = false;
  MachineOptions machine;
  TerminalOptions terminal;
};

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

PlannedProgram planned_program(const GpuProgramFlags& options, const LoadedProgram& loaded) {
  toy::CapacityBinding binding = options.machine.binding();
  generate::Target target;
  if (binding.sram_bytes) target.shared_bytes = *std::exchange(binding.sram_bytes, std::nullopt);
  toy::BoundProgram bound = loaded.bind(binding);
  toy::Executions executions = value_or_fail(toy::count_executions(bound), *loaded.source);
  require_indices_in_range(bound, *loaded.source);
  generate::Plan plan = value_or_fail(generate::plan(bound, target), *loaded.source);
  return {loaded.short_name(), std::move(bound), std::move(executions), target, std::move(plan)};
}

int show_gpu_program(const GpuProgramFlags& options) {
  if (!options.emit && !options.plan && !options.json) {
    throw request_failure("flashlab cannot run programs on a GPU yet",
                          "--emit for the CUDA C++ source, --plan for launches, grids and shared "
                          "memory, or --json for the plan as JSON");
  }
  const LoadedProgram loaded = load_program(options.program, options.machine.limits);
  const PlannedProgram program = planned_program(options, loaded);
  if (options.json) {
    std::cout << plan_json(program).dump(2) << "\n";
  } else if (options.emit) {
    (void)options.terminal.terminal();
    std::cout << generate::cuda_source(program.bound, program.plan, program.name);
  } else {
    const Terminal terminal = options.terminal.terminal();
    std::cout << loaded.heading(terminal) << setting(program.bound) << "\n"
              << plan_text(program, terminal);
  }
  return kExitGood;
}

}  // namespace

CommandAction add_gpu(CLI::App& app) {
  auto options = std::make_shared<GpuProgramFlags>();
  CLI::App& command =
      add_command(app, "gpu", "Generate CUDA C++ from a program; running it comes later",
                  "  flashlab gpu flash2 --plan\n"
                  "  flashlab gpu flash2 -D n=4096,d=64,B=32 --emit > flash2.cu\n"
                  "  nvcc -arch=sm_75 -cubin flash2.cu\n"
                  "  flashlab gpu mine.toy -D B=64 --sram h100 --plan\n");
  add_program_argument(command, options->program);
  const Flag emit = add_flag(command, "--emit", options->emit,
                             "print the source: device functions, then a kernel for each launch");
  const Flag plan = add_flag(command, "--plan", options->plan,
                             "print what becomes a launch, a grid, and shared memory, and why")
                        .excludes(emit);
  add_flag(command, "--json", options->json, "print the plan as JSON")
      .excludes(emit)
      .excludes(plan);
  options->machine.add_to(command, false);
  options->terminal.add_to(command);
  return [options] { return show_gpu_program(*options); };
}

}  // namespace flashlab::cli
