#include "cli/formulas.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "cli/report.hpp"
#include "cli/text_table.hpp"
#include "toymachine/instruction_set.hpp"

namespace flashlab::cli {
namespace {

using Json = nlohmann::ordered_json;
using toy::CounterFormulas;
using toy::Formula;

Json counter_formulas_json(const toy::Program& program, const CounterFormulas& formulas) {
  Json json;
  for (const toy::FormulaField& field : toy::formula_fields()) {
    json[field.key] = toy::to_string(formulas.*field.value);
  }
  json["by_op"] = Json::object();
  for (std::size_t row = 0; row < formulas.by_instruction.size(); ++row) {
    if (formulas.by_instruction[row].is_zero()) continue;
    json["by_op"][std::string(toy::instruction_set()[row].mnemonic)] =
        toy::to_string(formulas.by_instruction[row]);
  }
  json["by_array"] = Json::object();
  for (std::size_t i = 0; i < formulas.by_array.size(); ++i) {
    const toy::ArrayTrafficFormulas& traffic = formulas.by_array[i];
    json["by_array"][program.arrays[i].name] = {
        {"elements_loaded", toy::to_string(traffic.elements_loaded)},
        {"elements_stored", toy::to_string(traffic.elements_stored)},
        {"bytes_loaded", toy::to_string(traffic.bytes_loaded)},
        {"bytes_stored", toy::to_string(traffic.bytes_stored)}};
  }
  return json;
}

/// The formula under the key of a counter.
Formula CounterFormulas::*formula_of(std::string_view key) {
  for (const toy::FormulaField& field : toy::formula_fields()) {
    if (key == field.key) return field.value;
  }
  throw std::logic_error("no formula for counter " + std::string(key));
}

std::string number_text(const toy::Count& count) { return grouped(count.get_str()); }

}  // namespace

toy::FormulaStyle formula_style(const toy::Program& program, const Terminal& terminal) {
  toy::FormulaStyle style;
  style.unicode = terminal.unicode;
  for (const toy::ParamDeclaration& param : program.params) style.order.push_back(param.name);
  return style;
}

Json formulas_json(const toy::Program& program, const toy::CostFormulas& formulas) {
  Json json = counter_formulas_json(program, formulas.total);
  json["by_pass"] = Json::array();
  for (const std::size_t pass : shown_passes(program)) {
    Json one{{"pass", program.passes[pass]}};
    one.update(counter_formulas_json(program, formulas.by_pass[pass]));
    json["by_pass"].push_back(std::move(one));
  }
  return json;
}

std::string formulas_table(const toy::Program& program, const toy::CostFormulas& formulas,
                           const std::optional<toy::Counters>& numbers, const Terminal& terminal) {
  const toy::FormulaStyle style = formula_style(program, terminal);
  std::vector<Column> columns{{"counter"}, {"formula"}};
  if (numbers) columns.push_back({"number", Align::kRight});
  TextTable table(std::move(columns));
  const auto row = [&](const std::string& name, const Formula& formula, const toy::Count* number) {
    std::vector<std::string> cells{name, toy::to_string(formula, style)};
    if (number != nullptr) cells.push_back(number_text(*number));
    table.row(std::move(cells));
  };
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    row(spoken(description.key), formulas.total.*formula_of(description.key),
        numbers ? &((*numbers).*description.value) : nullptr);
  }
  table.rule();
  for (std::size_t i = 0; i < formulas.total.by_instruction.size(); ++i) {
    if (formulas.total.by_instruction[i].is_zero()) continue;
    row(std::string(toy::instruction_set()[i].mnemonic), formulas.total.by_instruction[i],
        numbers ? &numbers->by_instruction[i] : nullptr);
  }
  table.rule();
  for (std::size_t i = 0; i < formulas.total.by_array.size(); ++i) {
    const toy::ArrayTrafficFormulas& traffic = formulas.total.by_array[i];
    const std::string& name = program.arrays[i].name;
    if (!traffic.elements_loaded.is_zero()) {
      row(name + " loaded", traffic.elements_loaded,
          numbers ? &numbers->by_array[i].elements_loaded : nullptr);
    }
    if (!traffic.elements_stored.is_zero()) {
      row(name + " stored", traffic.elements_stored,
          numbers ? &numbers->by_array[i].elements_stored : nullptr);
    }
  }
  return table.to_string(terminal);
}

std::string pass_formulas_table(const toy::Program& program, const toy::CostFormulas& formulas,
                                const Terminal& terminal) {
  const std::vector<std::size_t> passes = shown_passes(program);
  if (passes.empty()) return {};
  const toy::FormulaStyle style = formula_style(program, terminal);
  TextTable table({{"pass"}, {"loads"}, {"stores"}, {"compute"}, {"cycles"}});
  const auto row = [&](const std::string& name, const CounterFormulas& counters) {
    table.row({name, toy::to_string(counters.loads, style), toy::to_string(counters.stores, style),
               toy::to_string(counters.compute, style), toy::to_string(counters.cycles, style)});
  };
  std::size_t position = 0;
  for (const std::size_t pass : passes) {
    row(pass_title(program, pass, ++position), formulas.by_pass[pass]);
  }
  table.rule();
  row("all", formulas.total);
  return table.to_string(terminal);
}

}  // namespace flashlab::cli
