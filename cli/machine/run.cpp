// `flashlab run`: executes a program, prints its counters and outputs.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/execution.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

struct RunFlags : RunRequest {
  bool json = false;
  TerminalOptions terminal;
};

void print_run_text(const RunFlags& options, const LoadedProgram& loaded,
                    const toy::Machines& machines, const Executed& executed) {
  const toy::BoundProgram& bound = machines.first();
  const Terminal terminal = options.terminal.terminal();
  std::cout << loaded.heading(terminal)
            << wrapped(setting(bound) + ", " + options.run.precision, terminal.width) << "\n"
            << counters_table(bound, executed.execution.executions, options.machine.cost_table(),
                              terminal);
  if (options.no_outputs) return;
  for (const toy::BoundArray& array : machines.joined.arrays) {
    if (array.role == toy::ArrayRole::kOutput) {
      std::cout << "\n" << array_text(array, executed.dram, terminal);
    }
  }
}

int run_program(const RunFlags& options) {
  if (options.json) {
    std::cout << run_json(options).dump(2) << "\n";
    return kExitGood;
  }
  options.machine.cost_table();  // report wrong flags before a long run
  const LoadedProgram loaded = load_program(options.program, options.machine);
  const toy::Machines machines = loaded.bind_machines(options.machine.binding());
  const Executed executed = execute(loaded, machines, options.run);
  print_run_text(options, loaded, machines, executed);
  return kExitGood;
}

}  // namespace

CommandAction add_run(CLI::App& app) {
  auto options = std::make_shared<RunFlags>();
  CLI::App& command = add_command(app, "run", "Run a program: its counters and its outputs",
                                  "  flashlab run softmax_online -D n=64\n"
                                  "  flashlab run my.toy --input x=[1,2,-inf] --precision double\n"
                                  "  flashlab run my.toy --cost LOAD=100,EXP=4      DRAM a hundred "
                                  "times as slow as a register\n"
                                  "  flashlab run my.toy --json | jq .cycles\n");
  add_program_argument(command, options->program);
  add_flag(command, "--json", options->json, "as JSON");
  add_flag(command, "--no-outputs", options->no_outputs, "counters only");
  options->machine.add_to(command, true);
  options->run.add_to(command);
  options->terminal.add_to(command);
  return [options] { return run_program(*options); };
}

}  // namespace flashlab::cli
