#include "cli/machine/formulas.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "cli/machine/counter_report.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

/// Returns a string, or null if there is no formula.
nlohmann::ordered_json formula_json(const toy::Formula& formula) {
  return formula.is_known() ? nlohmann::ordered_json(toy::to_string(formula)) : nullptr;
}

using toy::Formula;

Json counter_formulas_json(const toy::Program& program, const toy::CounterFormulas& formulas) {
  Json json;
  for (const toy::FormulaField& field : toy::formula_fields()) {
    json[field.key] = formula_json(formulas.*field.value);
  }
  json["by_op"] = Json::object();
  for (std::size_t row = 0; row < formulas.by_instruction.size(); ++row) {
    if (formulas.by_instruction[row].is_zero()) continue;
    json["by_op"][std::string(toy::instruction_set()[row].mnemonic)] =
        formula_json(formulas.by_instruction[row]);
  }
  json["by_array"] = Json::object();
  for (std::size_t i = 0; i < formulas.by_array.size(); ++i) {
    const toy::ArrayTrafficFormulas& traffic = formulas.by_array[i];
    using T = toy::ArrayTrafficFormulas;
    Json& entry = json["by_array"][program.arrays[i].name];
    const auto add = [&](const char* key, Formula T::*value) {
      entry[key] = formula_json(traffic.*value);
    };
    add("loads", &T::loads);
    add("stores", &T::stores);
    add("updates", &T::updates);
    add("elements_loaded", &T::elements_loaded);
    add("elements_stored", &T::elements_stored);
    add("elements_updated", &T::elements_updated);
    add("bytes_loaded", &T::bytes_loaded);
    add("bytes_stored", &T::bytes_stored);
    add("bytes_updated", &T::bytes_updated);
  }
  return json;
}

/// Returns the formula with the key of a counter.
Formula toy::CounterFormulas::*formula_of(std::string_view key) {
  for (const toy::FormulaField& field : toy::formula_fields()) {
    if (key == field.key) return field.value;
  }
  throw std::logic_error("no formula for counter " + std::string(key));
}

std::string count_text(const toy::Count& count) { return grouped(count.get_str()); }

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
    std::vector<std::string> cells{
        name, formula.is_known() ? toy::to_string(formula, style) : std::string("no formula")};
    if (number != nullptr) cells.push_back(count_text(*number));
    table.row(std::move(cells));
  };
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    const Formula& formula = formulas.total.*formula_of(description.key);
    if (description.is_rare && formula.is_zero()) continue;
    row(spoken(description.key), formula, numbers ? &((*numbers).*description.value) : nullptr);
  }
  table.rule();
  for (std::size_t i = 0; i < formulas.total.by_instruction.size(); ++i) {
    if (formulas.total.by_instruction[i].is_zero()) continue;
    row(std::string(toy::instruction_set()[i].mnemonic), formulas.total.by_instruction[i],
        numbers ? &numbers->by_instruction[i] : nullptr);
  }
  table.rule();
  const bool tiled = std::any_of(program.arrays.begin(), program.arrays.end(),
                                 [](const auto& array) { return !array.tile.empty(); });
  for (std::size_t i = 0; i < formulas.total.by_array.size(); ++i) {
    const toy::ArrayTrafficFormulas& traffic = formulas.total.by_array[i];
    const std::string& name = program.arrays[i].name;
    const auto moved = [&](const std::string& verb, const Formula& tiles, const Formula& elements,
                           toy::Count toy::ArrayTraffic::*tiles_number,
                           toy::Count toy::ArrayTraffic::*elements_number) {
      if (tiles.is_zero()) return;
      const auto number = [&](toy::Count toy::ArrayTraffic::*value) {
        return numbers ? &(numbers->by_array[i].*value) : nullptr;
      };
      if (tiled) row(name + " " + verb + ", tiles", tiles, number(tiles_number));
      row(name + " " + verb + (tiled ? ", elements" : ""), elements, number(elements_number));
    };
    using T = toy::ArrayTraffic;
    moved("loaded", traffic.loads, traffic.elements_loaded, &T::loads, &T::elements_loaded);
    moved("stored", traffic.stores, traffic.elements_stored, &T::stores, &T::elements_stored);
    moved("updated", traffic.updates, traffic.elements_updated, &T::updates, &T::elements_updated);
  }
  return table.to_string(terminal);
}

std::string pass_formulas_table(const toy::Program& program, const toy::CostFormulas& formulas,
                                const Terminal& terminal) {
  const std::vector<std::size_t> passes = shown_passes(program);
  if (passes.empty()) return {};
  const toy::FormulaStyle style = formula_style(program, terminal);
  TextTable table({{"pass"}, {"loads"}, {"stores"}, {"compute"}, {"cycles"}});
  const auto row = [&](const std::string& name, const toy::CounterFormulas& counters) {
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
