#include "cli/machine/formulas.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

#include "cli/machine/counter_report.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/width.hpp"
#include "toymachine/count/growth.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

/// Returns a string, or null if there is no formula.
nlohmann::ordered_json formula_json(const toy::Formula& formula) {
  return formula.is_known() ? nlohmann::ordered_json(toy::to_string(formula)) : nullptr;
}

using toy::Formula;
using toy::Polynomial;

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

struct FormulaRow {
  std::string name;
  const Formula* formula = nullptr;
  const toy::Count* number = nullptr;
  bool counts_tiles = false;
};

/// The rows of a table of formulas: counters, instructions, arrays.
class FormulaRows {
 public:
  FormulaRows(const toy::Program& program, const toy::CostFormulas& formulas,
              const std::optional<toy::Counters>& numbers) {
    for (const toy::CounterDescription& description : toy::counter_descriptions()) {
      const Formula& formula = formulas.total.*formula_of(description.key);
      if (description.is_rare && formula.is_zero()) continue;
      counters_.push_back({spoken(description.key), &formula,
                           numbers ? &((*numbers).*description.value) : nullptr});
    }
    for (std::size_t i = 0; i < formulas.total.by_instruction.size(); ++i) {
      const Formula& formula = formulas.total.by_instruction[i];
      if (formula.is_zero()) continue;
      instructions_.push_back({std::string(toy::instruction_set()[i].mnemonic), &formula,
                               numbers ? &numbers->by_instruction[i] : nullptr});
    }
    using T = toy::ArrayTrafficFormulas;
    using N = toy::ArrayTraffic;
    for (std::size_t i = 0; i < formulas.total.by_array.size(); ++i) {
      const T& traffic = formulas.total.by_array[i];
      const bool tiled = has_tiles(program);
      const auto add = [&](const char* verb, Formula T::*tiles, Formula T::*elements,
                           toy::Count N::*tiles_number, toy::Count N::*elements_number) {
        if ((traffic.*tiles).is_zero()) return;
        const auto number = [&](toy::Count N::*value) {
          return numbers ? &(numbers->by_array[i].*value) : nullptr;
        };
        const std::string name = program.arrays[i].name + " " + verb;
        if (tiled)
          arrays_.push_back({name + ", tiles", &(traffic.*tiles), number(tiles_number), true});
        arrays_.push_back(
            {name + (tiled ? ", elements" : ""), &(traffic.*elements), number(elements_number)});
      };
      add("loaded", &T::loads, &T::elements_loaded, &N::loads, &N::elements_loaded);
      add("stored", &T::stores, &T::elements_stored, &N::stores, &N::elements_stored);
      add("updated", &T::updates, &T::elements_updated, &N::updates, &N::elements_updated);
    }
  }

  std::vector<std::vector<FormulaRow>> sections(const FormulaDetail& detail) const {
    std::vector<FormulaRow> arrays;
    for (const FormulaRow& row : arrays_) {
      if (!detail.tiles && row.counts_tiles) continue;
      if (arrays.size() < detail.array_rows) arrays.push_back(row);
    }
    return {counters_, instructions_, arrays};
  }

  /// The columns that the table leaves for formulas.
  static std::size_t formula_width(const std::vector<std::vector<FormulaRow>>& sections,
                                   const Terminal& terminal) {
    constexpr std::size_t kMargin = 2, kGap = 3, kLeast = 10;
    std::size_t names = display_width("counter"), numbers = 0;
    for (const std::vector<FormulaRow>& section : sections) {
      for (const FormulaRow& row : section) {
        names = std::max(names, display_width(row.name));
        if (row.number == nullptr) continue;
        numbers = std::max({numbers, display_width("number"), count_text(*row.number).size()});
      }
    }
    const std::size_t others = kMargin + names + kGap + (numbers > 0 ? kGap + numbers : 0);
    return terminal.width > others + kLeast ? terminal.width - others : kLeast;
  }

 private:
  static bool has_tiles(const toy::Program& program) {
    return std::any_of(program.arrays.begin(), program.arrays.end(),
                       [](const auto& array) { return !array.tile.empty(); });
  }

  std::vector<FormulaRow> counters_, instructions_, arrays_;
};

/// Writes formulas into cells: whole, or the terms that grow fastest.
class FormulaCells {
 public:
  FormulaCells(const toy::Program& program, const toy::CostFormulas& formulas,
               const toy::ParameterValues& sizes, const Terminal& terminal)
      : style_(formula_style(program, terminal)),
        sizes_(sizes),
        growth_(sizes, divisors_in(formulas)) {}

  /// `lines` of this width are as many as the text may take, if one term does; 0: any number.
  std::string text(const Formula& formula, std::size_t width, std::size_t lines) const {
    if (!formula.is_known()) return "no formula";
    const std::string whole = toy::to_string(formula, style_);
    const auto fits = [&](const std::string& text) { return wrap(text, width).size() <= lines; };
    if (lines == 0 || fits(whole)) return whole;
    const toy::Piece* const here = toy::piece_at(formula, sizes_);
    const Polynomial& value = (here == nullptr ? formula.pieces.front() : *here).value;
    const std::string cases =
        formula.pieces.size() == 1 ? "" : " (" + std::to_string(formula.pieces.size()) + " cases)";
    const std::vector<Polynomial> terms = growth_.terms(value);
    for (std::size_t number = std::max<std::size_t>(terms.size(), 1); number > 0; --number) {
      const toy::LeadingTerms leading = toy::leading_terms(terms, number);
      std::string text = toy::to_string(leading.kept, style_);
      if (leading.left_out > 0) {
        text += " + " + counted(static_cast<std::int64_t>(leading.left_out), "smaller term");
      }
      text += cases;
      const bool represents = leading.left_out == 0 || growth_.represents(leading.kept, value);
      if (represents && (number == 1 || fits(text))) return text;
    }
    return counted(static_cast<std::int64_t>(terms.size()), "term") + cases;
  }

 private:
  static std::set<std::string> divisors_in(const toy::CostFormulas& formulas) {
    std::set<std::string> divisors;
    const auto add = [&](const Formula& formula) { divisors.merge(toy::divisor_symbols(formula)); };
    for (const toy::FormulaField& field : toy::formula_fields()) add(formulas.total.*field.value);
    for (const Formula& formula : formulas.total.by_instruction) add(formula);
    for (const toy::ArrayTrafficFormulas& traffic : formulas.total.by_array) {
      add(traffic.elements_loaded);
      add(traffic.elements_stored);
      add(traffic.elements_updated);
    }
    return divisors;
  }

  toy::FormulaStyle style_;
  toy::ParameterValues sizes_;
  toy::Growth growth_;
};

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
                           const std::optional<toy::Counters>& numbers,
                           const toy::ParameterValues& sizes, const FormulaDetail& detail,
                           const Terminal& terminal) {
  FormulaRows rows(program, formulas, numbers);
  const FormulaCells cells(program, formulas, sizes, terminal);
  std::vector<Column> columns{{"counter"}, {"formula"}};
  if (numbers) columns.push_back({"number", Align::kRight});
  TextTable table(std::move(columns));
  const std::vector<std::vector<FormulaRow>> sections = rows.sections(detail);
  const std::size_t width = rows.formula_width(sections, terminal);
  for (const std::vector<FormulaRow>& section : sections) {
    if (&section != &sections.front()) table.rule();
    for (const FormulaRow& row : section) {
      std::vector<std::string> line{row.name, cells.text(*row.formula, width, detail.lines)};
      if (row.number != nullptr) line.push_back(count_text(*row.number));
      table.row(std::move(line));
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
