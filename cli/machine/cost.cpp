// `flashlab cost`: prints counts as formulas and as numbers, without running the program.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/formulas.hpp"
#include "cli/machine/requests.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

struct CostFlags : CostRequest {
  bool json = false;
  TerminalOptions terminal;
};

void print_cost_text(const CostFlags& options, const ProgramCost& cost) {
  const LoadedProgram& loaded = cost.loaded;
  const Terminal terminal = options.terminal.terminal();
  std::cout << loaded.heading(terminal);
  if (cost.numbers) std::cout << setting(cost.numbers->bound) << "\n";
  std::cout << "\n";
  if (!cost.formulas) {
    const auto& [bound, executions] = *cost.numbers;
    std::cout << counters_table(bound, executions, options.machine.cost_table(), terminal);
    return;
  }
  std::optional<toy::Counters> numbers;
  if (cost.numbers) {
    numbers =
        toy::count(cost.numbers->bound, cost.numbers->executions, options.machine.cost_table());
  }
  std::cout << formulas_table(*loaded.program, *cost.formulas, numbers, terminal);
  const std::string passes = pass_formulas_table(*loaded.program, *cost.formulas, terminal);
  if (!passes.empty()) std::cout << "\n" << passes;
  const std::string domain =
      toy::to_string(cost.formulas->domain, formula_style(*loaded.program, terminal));
  if (!domain.empty()) std::cout << "\nExact for all " << domain << ".\n";
}

int print_cost(const CostFlags& options) {
  const ProgramCost cost = derive_cost(options);
  if (options.json) {
    std::cout << cost_json(options, cost).dump(2) << "\n";
  } else {
    print_cost_text(options, cost);
  }
  return kExitGood;
}

}  // namespace

CommandAction add_cost(CLI::App& app) {
  auto options = std::make_shared<CostFlags>();
  CLI::App& command =
      add_command(app, "cost", "Count without running: formulas, and numbers at any size",
                  "  flashlab cost softmax_online\n"
                  "  flashlab cost softmax_online -D n=1000000000\n"
                  "  flashlab cost my.toy --cost LOAD=100 --json\n");
  add_program_argument(command, options->program);
  add_flag(command, "--json", options->json, "as JSON");
  options->machine.add_to(command, false);
  options->terminal.add_to(command);
  return [options] { return print_cost(*options); };
}

}  // namespace flashlab::cli
