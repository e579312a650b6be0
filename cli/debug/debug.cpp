// `flashlab debug`: follows a run forwards and backwards, on the screen or by a script.
#include <memory>

#include "cli/debug/debugger.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/failure.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/replay/breakpoint.hpp"

namespace flashlab::cli {
namespace {

struct DebugFlags {
  std::string program;
  std::uint64_t step = 0;
  std::vector<std::string> breakpoints;
  DebuggerRequest debugger;
  MachineOptions machine;
  RunOptions run;
  TerminalOptions terminal;
};

int debug_program(const DebugFlags& options) {
  DebuggerRequest request = options.debugger;
  request.costs = options.machine.cost_table();
  request.double_precision = options.run.precision == "double";
  const LoadedProgram loaded = load_program(options.program, options.machine);
  const toy::BoundProgram bound = loaded.bind(options.machine.binding());
  for (const std::string& text : options.breakpoints) {
    value_or_fail(toy::parse_breakpoint(bound, text));
    request.first.push_back("break " + text);
  }
  if (options.step > 0) request.first.push_back("step " + std::to_string(options.step));
  return open_debugger(
      bound,
      value_or_fail(toy::InitialDram::make(bound, options.run.input_sources()), *loaded.source),
      request, options.terminal);
}

}  // namespace

CommandAction add_debug(CLI::App& app) {
  auto options = std::make_shared<DebugFlags>();
  CLI::App& command =
      add_command(app, "debug", "Follow a run forwards and backwards, with breakpoints",
                  "  flashlab debug softmax_online\n"
                  "  flashlab debug softmax_online -D n=1000 --break 'R1 > 0.9'\n"
                  "  flashlab debug my.toy --step 17             right before step 18\n"
                  "  flashlab debug my.toy --commands commands   without the screen\n"
                  "\nOn the screen: n executes an instruction, b takes it back, c goes on to a "
                  "breakpoint,\nr back to the previous one, w asks who wrote a cell, ? lists all "
                  "commands, q ends it.\n");
  add_program_argument(command, options->program);
  add_option(command, "--step", options->step, "begin after this step").type_name("STEP");
  add_option(command, "--break", options->breakpoints,
             "a breakpoint: 12, '12 if R1 > 0', 'R1 > 0', 'out[3] is written'; may be repeated")
      .type_name("WHERE")
      .allow_extra_args(false);
  options->debugger.add_to(command);
  options->machine.add_to(command, true);
  options->run.add_to(command);
  options->terminal.add_to(command);
  return [options] { return debug_program(*options); };
}

}  // namespace flashlab::cli
