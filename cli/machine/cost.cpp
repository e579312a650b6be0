// `flashlab cost`: prints counts as formulas and as numbers, without running the program.
#include <algorithm>
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
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

struct CostFlags : CostRequest {
  bool json = false, passes = false, all = false;
  TerminalOptions terminal;
};

/// The most lines that are printed unless more is asked for: what fits a window and can be read.
constexpr std::size_t kMostLines = 60;

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The sizes of the numbers; without numbers those that were given.
toy::ParameterValues shown_sizes(const ProgramCost& cost) {
  toy::ParameterValues sizes;
  if (!cost.numbers) return sizes;
  const toy::BoundProgram& bound = cost.numbers->bound;
  for (std::size_t i = 0; i < bound.params.size(); ++i) {
    sizes[bound.program->params[i].name] = bound.params[i];
  }
  sizes["registers"] = bound.num_registers;
  return sizes;
}

/// What may be left out, the least first.
std::vector<FormulaDetail> shorter_and_shorter() {
  std::vector<FormulaDetail> details{{}};
  for (const bool tiles : {true, false}) {
    for (const std::size_t lines : {3, 2, 1}) details.push_back({lines, tiles});
  }
  for (std::size_t rows = kMostLines; rows-- > 0;) details.push_back({1, false, rows});
  return details;
}

/// What the table leaves out, and which flags print it.
std::string left_out_text(const FormulaDetail& detail, bool has_passes, const Terminal& terminal) {
  std::string text;
  if (detail.lines > 0) {
    text +=
        "Long formulas are cut: of several cases, to that of the sizes above, and to the terms "
        "that "
        "grow fastest when all sizes but those of tiles grow alike. Where these cancel, their "
        "number "
        "is printed. ";
  }
  if (!detail.tiles) text += "Numbers of tiles are left out. ";
  if (detail.array_rows != SIZE_MAX) text += "Rows of arrays are left out. ";
  if (has_passes) text += "--passes prints the counts of each pass. ";
  if (detail.lines > 0) text += "--all prints everything. ";
  return text.empty() ? "" : "\n" + wrapped(text.substr(0, text.size() - 1), terminal.width);
}

void print_cost_text(const CostFlags& options, const ProgramCost& cost) {
  const LoadedProgram& loaded = cost.loaded;
  const Terminal terminal = options.terminal.terminal();
  std::string head = loaded.heading(terminal);
  if (cost.numbers) head += wrapped(setting(cost.numbers->bound), terminal.width);
  std::cout << head << "\n";
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
  const std::string passes = pass_formulas_table(*loaded.program, *cost.formulas, terminal);
  const bool with_passes = options.passes || options.all;
  std::string domain =
      toy::to_string(cost.formulas->domain, formula_style(*loaded.program, terminal));
  if (!domain.empty()) domain = "\n" + wrapped("Exact for all " + domain + ".", terminal.width);
  std::string table, left_out;
  for (const FormulaDetail& detail : shorter_and_shorter()) {
    table = formulas_table(*loaded.program, *cost.formulas, numbers, shown_sizes(cost), detail,
                           terminal);
    left_out = left_out_text(detail, !passes.empty() && !with_passes, terminal);
    const std::size_t others = count_lines(head) + 1 + count_lines(domain) + count_lines(left_out);
    if (options.all || others + count_lines(table) <= kMostLines) break;
  }
  std::cout << table;
  if (with_passes && !passes.empty()) std::cout << "\n" << passes;
  std::cout << domain << left_out;
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
  add_flag(command, "--passes", options->passes, "the counts of each pass, too");
  add_flag(command, "--all", options->all,
           "whole formulas, all arrays and passes, however many lines they take");
  add_flag(command, "--json", options->json, "as JSON, with everything");
  options->machine.add_to(command, false);
  options->terminal.add_to(command);
  return [options] { return print_cost(*options); };
}

}  // namespace flashlab::cli
