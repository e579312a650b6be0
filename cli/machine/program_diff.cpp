#include "cli/machine/program_diff.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/machine/counter_report.hpp"
#include "cli/machine/formulas.hpp"
#include "cli/terminal/command_lines.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

using toy::CounterFormulas;

/// One property of a program, as text.
using Property = std::function<std::string(const Side&)>;
using FormulaMember = toy::Formula CounterFormulas::*;

std::string quantity(const toy::Formula& formula, const Side& side, const Terminal& terminal) {
  if (!formula.is_known()) return "no formula";
  return toy::to_string(formula, formula_style(*side.loaded.program, terminal));
}

std::string passes_text(const Side& side) {
  std::vector<std::string> titles;
  for (const std::size_t pass : shown_passes(*side.loaded.program)) {
    titles.push_back(printable(side.loaded.program->passes[pass]));
  }
  if (titles.empty()) return "1";
  return std::to_string(titles.size()) + " (" + joined(titles, "; ") + ")";
}

std::string by_pass_text(const Side& side, FormulaMember member, const Terminal& terminal) {
  std::vector<std::string> parts;
  for (const std::size_t pass : shown_passes(*side.loaded.program)) {
    parts.push_back(quantity(side.formulas->by_pass[pass].*member, side, terminal));
  }
  return parts.empty() ? quantity(side.formulas->total.*member, side, terminal) : joined(parts);
}

/// Returns the only parameter in which the program's compute grows linearly, or nothing.
std::optional<toy::Atom> element_parameter(const Side& side) {
  const toy::Polynomial* compute = side.formulas->total.compute.polynomial();
  if (compute == nullptr) return std::nullopt;
  const std::vector<toy::Atom> atoms = compute->atoms();
  if (atoms.size() != 1 || compute->degree(atoms[0]) != 1) return std::nullopt;
  return atoms[0];
}

/// Returns "SUB, 2 EXP": the work of one pass for each element.
std::string element_work(const CounterFormulas& pass, const toy::Atom& parameter) {
  std::vector<std::string> parts;
  for (std::size_t row = 0; row < pass.by_instruction.size(); ++row) {
    const toy::InstructionSpec& spec = toy::instruction_set()[row];
    const toy::Polynomial* executions = pass.by_instruction[row].polynomial();
    if (spec.is_load() || spec.is_store() || executions == nullptr) continue;
    const toy::Polynomial times = executions->coefficient(parameter, 1);
    if (times.is_zero()) continue;
    const std::string count = toy::to_string(times);
    parts.push_back((count == "1" ? "" : count + " ") + std::string(spec.mnemonic));
  }
  return parts.empty() ? "-" : joined(parts);
}

std::string element_work_text(const Side& side) {
  const std::optional<toy::Atom> parameter = element_parameter(side);
  if (!parameter) return "";
  std::vector<std::string> parts;
  for (const std::size_t pass : shown_passes(*side.loaded.program)) {
    parts.push_back(element_work(side.formulas->by_pass[pass], *parameter));
  }
  return parts.empty() ? element_work(side.formulas->total, *parameter) : joined(parts, "; ");
}

/// "+4", "-3", "0".
std::string signed_count(const toy::Count& difference) {
  return (difference > 0 ? "+" : "") + grouped(difference.get_str());
}

std::string counts_table(const Comparison& comparison, const Terminal& terminal) {
  const toy::Counters& left = comparison.left.counters;
  const toy::Counters& right = comparison.right.counters;
  TextTable table({{"counter"},
                   {comparison.left.loaded.short_name(), Align::kRight},
                   {comparison.right.loaded.short_name(), Align::kRight},
                   {"difference", Align::kRight}});
  const auto row = [&](const std::string& name, const toy::Count& a, const toy::Count& b) {
    table.row({name, grouped(a.get_str()), grouped(b.get_str()), signed_count(b - a)});
  };
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    const toy::Count& a = left.*description.value;
    const toy::Count& b = right.*description.value;
    if (description.is_rare && a == 0 && b == 0) continue;
    row(spoken(description.key), a, b);
  }
  table.rule();
  for (std::size_t i = 0; i < left.by_instruction.size(); ++i) {
    if (left.by_instruction[i] == 0 && right.by_instruction[i] == 0) continue;
    row(std::string(toy::instruction_set()[i].mnemonic), left.by_instruction[i],
        right.by_instruction[i]);
  }
  return table.to_string(terminal);
}

/// The instruction whose cost represents the cost of DRAM: the first load.
std::size_t load_row() {
  const auto rows = toy::instruction_set();
  const auto load =
      std::find_if(rows.begin(), rows.end(), [](auto& spec) { return spec.is_load(); });
  return static_cast<std::size_t>(load - rows.begin());
}

/// Returns the cycles per load at which both programs cost the same for these parameters; nothing
/// if both load equally often.
std::optional<mpq_class> crossing_number(const Comparison& comparison) {
  const std::size_t row = load_row();
  const auto fixed = [&](const toy::Counters& counters) -> toy::Count {
    return counters.cycles - counters.by_instruction[row] * comparison.costs.cycles(row);
  };
  const toy::Counters& left = comparison.left.counters;
  const toy::Counters& right = comparison.right.counters;
  const toy::Count slope = left.by_instruction[row] - right.by_instruction[row];
  if (slope == 0) return std::nullopt;
  mpq_class crossing(fixed(right) - fixed(left), slope);
  crossing.canonicalize();
  return crossing;
}

std::string decimal(const mpq_class& number) { return short_text(number.get_d()); }

std::vector<std::string> crossing_formulas(const Comparison& comparison,
                                           const toy::FormulaStyle& style) {
  std::vector<std::string> texts;
  if (!comparison.left.formulas) return texts;
  for (const toy::QuotientPiece& piece : toy::crossing_cost(
           *comparison.left.formulas, *comparison.right.formulas, comparison.costs, load_row())) {
    const std::string conditions = toy::to_string(piece.conditions, style);
    texts.push_back(toy::to_string(piece, style) +
                    (conditions.empty() ? "" : " for " + conditions));
  }
  return texts;
}

std::string settings_text(const Comparison& comparison, const Terminal& terminal) {
  const std::string left = setting(comparison.left.bound);
  const std::string right = setting(comparison.right.bound);
  return wrapped(comparison.left.loaded.short_name() + ": " + left, terminal.width) +
         wrapped(comparison.right.loaded.short_name() + ": " + right, terminal.width);
}

Json side_json(const Side& side, const toy::CostTable& costs) {
  Json json{{"program", side.loaded.short_name()},
            {"params", params_json(side.bound)},
            {"num_registers", side.bound.num_registers}};
  json["formula"] = side.formulas ? formulas_json(*side.loaded.program, *side.formulas) : Json();
  json["value"] = all_counters_json(side.bound, side.executions, costs);
  return json;
}

}  // namespace

void add_formulas(Comparison& comparison) {
  for (Side* side : {&comparison.left, &comparison.right}) {
    auto formulas = toy::cost_formulas(*side->loaded.program, comparison.costs);
    for (toy::Diagnostic& d : formulas.diagnostics) d.severity = toy::Severity::kNote;
    print_warnings(formulas.diagnostics, *side->loaded.source);
    side->formulas = std::move(formulas.value);
  }
  if (!comparison.left.formulas || !comparison.right.formulas) {
    comparison.left.formulas.reset();
    comparison.right.formulas.reset();
  }
}

std::string property_table(const Comparison& comparison, const Terminal& terminal) {
  const Side& left = comparison.left;
  const Side& right = comparison.right;
  TextTable table({{"property"}, {left.loaded.short_name()}, {right.loaded.short_name()}});
  const auto row = [&](const std::string& name, const Property& property) {
    table.row({name, property(left), property(right)});
  };
  row("registers", [](const Side& side) { return std::to_string(side.bound.num_registers); });
  row("passes", passes_text);
  if (!left.formulas) return table.to_string(terminal);
  const auto formula_row = [&](const std::string& name, FormulaMember member) {
    row(name, [&, member](const Side& side) {
      return quantity(side.formulas->total.*member, side, terminal);
    });
  };
  const bool have_passes =
      !shown_passes(*left.loaded.program).empty() || !shown_passes(*right.loaded.program).empty();
  const auto pass_row = [&](const std::string& name, FormulaMember member) {
    if (!have_passes) return;
    row(name, [&, member](const Side& side) { return by_pass_text(side, member, terminal); });
  };
  formula_row("DRAM reads", &CounterFormulas::loads);
  pass_row("  pass by pass", &CounterFormulas::loads);
  formula_row("DRAM writes", &CounterFormulas::stores);
  pass_row("  pass by pass", &CounterFormulas::stores);
  formula_row("compute", &CounterFormulas::compute);
  if (element_parameter(left) || element_parameter(right)) {
    row("  per element", element_work_text);
  }
  formula_row("cycles", &CounterFormulas::cycles);
  return table.to_string(terminal);
}

std::string crossing_sentence(const Comparison& comparison, const Terminal& terminal) {
  const std::string mnemonic(toy::instruction_set()[load_row()].mnemonic);
  const std::string left = comparison.left.loaded.short_name();
  const std::string right = comparison.right.loaded.short_name();
  const std::optional<mpq_class> number = crossing_number(comparison);
  if (!number) return "Both execute as many " + mnemonic + "s: its cost favours neither.\n";
  const std::size_t row = load_row();
  const bool left_loads_more =
      comparison.left.counters.by_instruction[row] > comparison.right.counters.by_instruction[row];
  const std::string& thrifty = left_loads_more ? right : left;
  const std::string& other = left_loads_more ? left : right;
  if (*number <= 0) {
    return thrifty + " costs less, whatever a " + mnemonic + " costs" +
           (*number == 0 ? " (and as much when it is free)" : "") + ".\n";
  }
  const std::vector<std::string> formulas =
      crossing_formulas(comparison, formula_style(*comparison.left.loaded.program, terminal));
  constexpr std::size_t kLongestFormula = 60;  // a longer formula is less useful than the number
  const bool constant = formulas.empty() || formulas == std::vector{decimal(*number)} ||
                        joined(formulas, "; ").size() > kLongestFormula;
  return "They cost the same when a " + mnemonic + " takes " +
         (constant ? decimal(*number) + " cycles"
                   : joined(formulas, "; ") + " cycles (here " + decimal(*number) + ")") +
         ".\nBelow that " + other + " costs less, above it " + thrifty + ".\n";
}

std::string comparison_text(const Comparison& comparison, const Terminal& terminal) {
  std::string domain;
  if (comparison.left.formulas) {
    std::vector<toy::Condition> conditions = comparison.left.formulas->domain;
    for (const toy::Condition& condition : comparison.right.formulas->domain) {
      if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end()) {
        conditions.push_back(condition);
      }
    }
    domain = toy::to_string(conditions, formula_style(*comparison.left.loaded.program, terminal));
  }
  return property_table(comparison, terminal) +
         (domain.empty()
              ? ""
              : "\n" + wrapped("Formulas are exact for all " + domain + ".", terminal.width)) +
         "\n" + settings_text(comparison, terminal) + "\n" + counts_table(comparison, terminal) +
         "\n" + fitted_lines(crossing_sentence(comparison, terminal), terminal);
}

Json comparison_json(const Comparison& comparison) {
  Json difference;
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    const toy::Count delta =
        comparison.right.counters.*description.value - comparison.left.counters.*description.value;
    difference[description.key] = toy::count_json(delta);
  }
  const std::optional<mpq_class> number = crossing_number(comparison);
  return {{"left", side_json(comparison.left, comparison.costs)},
          {"right", side_json(comparison.right, comparison.costs)},
          {"difference", std::move(difference)},
          {"crossing",
           {{"instruction", toy::instruction_set()[load_row()].mnemonic},
            {"formula", crossing_formulas(comparison, {})},
            {"value", number ? Json(number->get_d()) : Json()}}}};
}

}  // namespace flashlab::cli
