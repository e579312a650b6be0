// `flashlab cost`: prints counts as formulas and as numbers, without running the program.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/formulas.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

struct CostFlags {
  std::string program;
  bool json = false;
  MachineOptions machine;
  TerminalOptions terminal;
};

/// The counts for one choice of parameters.
struct Numbers {
  toy::BoundProgram bound;
  toy::Executions executions;
};

/// A program's cost: formulas unless they cannot be derived, numbers unless a parameter
/// has no value.
struct Cost {
  std::optional<toy::CostFormulas> formulas;
  std::optional<Numbers> numbers;
};

std::string parameters_without_value(const toy::Program& program,
                                     const toy::CapacityBinding& binding) {
  std::string names;
  for (const toy::ParamDeclaration& param : program.params) {
    if (param.default_value == nullptr && !binding.params.contains(param.name)) {
      names += (names.empty() ? "" : ", ") + param.name;
    }
  }
  return names;
}

Cost derive(const LoadedProgram& loaded, const toy::CapacityBinding& binding,
            const toy::CostTable& costs) {
  Cost cost;
  const std::string missing = parameters_without_value(*loaded.program, binding);
  if (missing.empty()) {
    toy::BoundProgram bound = loaded.bind(binding);
    auto executions = value_or_fail(toy::count_executions(bound), *loaded.source);
    cost.numbers = Numbers{std::move(bound), std::move(executions)};
  }
  toy::Result<toy::CostFormulas> formulas = toy::cost_formulas(*loaded.program, costs);
  if (!formulas && !cost.numbers) throw program_failure(formulas.diagnostics, *loaded.source);
  if (!formulas) {
    for (toy::Diagnostic& diagnostic : formulas.diagnostics) {
      diagnostic.severity = toy::Severity::kNote;
    }
  }
  std::vector<toy::Diagnostic> notes = formulas.diagnostics;
  for (toy::Diagnostic reason : formulas ? formulas->no_work : std::vector<toy::Diagnostic>()) {
    reason.severity = toy::Severity::kNote;
    reason.what += " (FLOPs, bytes, elements)";
    notes.push_back(std::move(reason));
  }
  print_warnings(notes, *loaded.source);
  cost.formulas = std::move(formulas.value);
  if (!missing.empty()) std::cerr << "flashlab: for numbers, give -D " << missing << "=...\n";
  return cost;
}

void print_cost_json(const CostFlags& options, const LoadedProgram& loaded, const Cost& cost) {
  nlohmann::ordered_json json{{"program", loaded.short_name()}};
  if (cost.formulas) {
    json["domain"] = toy::to_string(cost.formulas->domain);
    json["formula"] = formulas_json(*loaded.program, *cost.formulas);
  } else {
    json["formula"] = nullptr;
  }
  if (cost.numbers) {
    const auto& [bound, executions] = *cost.numbers;
    json["params"] = params_json(bound);
    json["num_registers"] = bound.num_registers;
    json["value"] = all_counters_json(bound, executions, options.machine.cost_table());
  } else {
    json["value"] = nullptr;
  }
  std::cout << json.dump(2) << "\n";
}

void print_cost_text(const CostFlags& options, const LoadedProgram& loaded, const Cost& cost) {
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
  const LoadedProgram loaded = load_program(options.program, options.machine.limits);
  const Cost cost = derive(loaded, options.machine.binding(), options.machine.cost_table());
  if (options.json) {
    print_cost_json(options, loaded, cost);
  } else {
    print_cost_text(options, loaded, cost);
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
