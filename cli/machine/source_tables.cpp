#include "cli/machine/source_tables.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/options/options.hpp"
#include "cli/terminal/failure.hpp"
#include "source_table_files.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {
namespace {

using toy::Polynomial;

const nlohmann::json& all_tables() {
  static const nlohmann::json tables = nlohmann::json::parse(source_table_files[0].text);
  return tables;
}

/// source_tables.json is part of the program, so an error in it is a bug.
std::logic_error wrong(const std::string& what) {
  return std::logic_error("source_tables.json: " + what);
}

Polynomial polynomial(const std::string& text) {
  const auto value = toy::parse_polynomial(text);
  if (!value) throw wrong("'" + text + "' is not a formula");
  return *value;
}

/// The cost of one column's program, with the table's element sizes substituted.
class ColumnCounts {
 public:
  ColumnCounts(const SourceColumn& column, const nlohmann::json& table)
      : loaded_(load_program(column.program, toy::Limits{})),
        formulas_(value_or_fail(toy::cost_formulas(*loaded_.program), *loaded_.source)) {
    for (const auto& [name, value] : table.at("given").items()) {
      given_.emplace_back(name, polynomial(value));
    }
    for (const auto& [name, value] : table.at("sample").items()) sample_[name] = value;
    const auto& passes = loaded_.program->passes;
    const auto pass = std::find(passes.begin(), passes.end(), column.pass);
    if (column.pass.empty()) return;
    if (pass == passes.end()) throw wrong(column.program + " has no pass " + column.pass);
    pass_ = static_cast<std::size_t>(pass - passes.begin());
  }

  /// "loads", "q.loads", "peak_registers".
  Polynomial operator()(const std::string& counter) const {
    if (counter == "peak_registers") return mpz_class(toy::peak_registers(bound()));
    const std::size_t dot = counter.find('.');
    if (dot == std::string::npos) return at_sample(total(counter));
    const auto& arrays = loaded_.program->arrays;
    const auto array = std::find_if(arrays.begin(), arrays.end(), [&](const auto& declaration) {
      return declaration.name == counter.substr(0, dot);
    });
    if (array == arrays.end()) throw wrong("no array " + counter);
    const toy::ArrayTrafficFormulas& traffic =
        counters().by_array[static_cast<std::size_t>(array - arrays.begin())];
    if (counter.ends_with(".loads")) return at_sample(traffic.loads);
    if (counter.ends_with(".stores")) return at_sample(traffic.stores);
    if (counter.ends_with(".updates")) return at_sample(traffic.updates);
    throw wrong("no counter " + counter);
  }

 private:
  const toy::CounterFormulas& counters() const {
    return pass_ ? formulas_.by_pass[*pass_] : formulas_.total;
  }

  const toy::Formula& total(const std::string& key) const {
    for (const toy::FormulaField& field : toy::formula_fields()) {
      if (field.key == key) return counters().*field.value;
    }
    throw wrong("no counter " + key);
  }

  Polynomial with_given(Polynomial value) const {
    for (const auto& [name, replacement] : given_) {
      value = toy::substitute(value, toy::Atom(name), replacement);
    }
    return value;
  }

  /// The piece of the formula that holds at the sample, with the table's element sizes.
  Polynomial at_sample(const toy::Formula& formula) const {
    const toy::SymbolValues lookup = [&](const std::string& symbol) -> std::optional<mpz_class> {
      const auto found = sample_.find(symbol);
      return found == sample_.end() ? std::nullopt : std::optional<mpz_class>(found->second);
    };
    for (const toy::Piece& piece : formula.pieces) {
      const bool holds = std::all_of(
          piece.conditions.begin(), piece.conditions.end(), [&](const toy::Condition& condition) {
            const auto value = toy::evaluate(with_given(condition.polynomial), lookup);
            return value && *value >= 0;
          });
      if (holds) return with_given(piece.value);
    }
    throw wrong("no piece of a formula of " + loaded_.short_name() + " holds at the sample");
  }

  toy::BoundProgram bound() const {
    toy::CapacityBinding binding;
    const toy::SymbolValues lookup = [&](const std::string& symbol) -> std::optional<mpz_class> {
      return mpz_class(sample_.at(symbol));
    };
    for (const toy::ParamDeclaration& param : loaded_.program->params) {
      const auto given = std::find_if(given_.begin(), given_.end(),
                                      [&](const auto& entry) { return entry.first == param.name; });
      if (given != given_.end()) {
        binding.params[param.name] = toy::evaluate(given->second, lookup)->get_num().get_si();
      } else if (sample_.contains(param.name)) {
        binding.params[param.name] = sample_.at(param.name);
      }
    }
    return loaded_.bind(binding);
  }

  LoadedProgram loaded_;
  toy::CostFormulas formulas_;
  std::optional<std::size_t> pass_;
  std::vector<std::pair<std::string, Polynomial>> given_;
  std::map<std::string, std::int64_t> sample_;
};

SourceCell source_cell(const nlohmann::json& json, const ColumnCounts& counts) {
  SourceCell result;
  if (!json.contains("count")) return result;
  result.empty = false;
  for (const auto& counter : json.at("count")) result.counted += counts(counter);
  if (json.contains("per")) {
    const auto [quotient, remainder] =
        toy::divide(result.counted, polynomial(json.at("per")), /*whole=*/false);
    if (!remainder.is_zero()) throw wrong("a quotient that does not come out even");
    result.counted = quotient;
  }
  if (json.contains("stated")) {
    result.has_entry = true;
    result.text = json.at("stated");
    result.entry = polynomial(result.text);
  }
  if (json.contains("differences")) {
    for (const auto& difference : json.at("differences")) {
      result.differences.push_back({difference.at("why"), polynomial(difference.at("formula"))});
    }
  }
  return result;
}

}  // namespace

bool SourceCell::adds_up() const {
  if (!has_entry) return true;
  Polynomial total = entry;
  for (const Difference& difference : differences) total += difference.formula;
  return total == counted;
}

std::vector<std::string> source_table_names() {
  std::vector<std::string> names;
  for (const nlohmann::json& table : all_tables()) names.push_back(table.at("name"));
  return names;
}

SourceTable source_table(const std::string& name) {
  for (const nlohmann::json& json : all_tables()) {
    if (json.at("name") != name) continue;
    SourceTable table{name, json.at("title"), json.at("source"), json.value("note", ""), {}, {}};
    std::vector<ColumnCounts> counts;
    for (const nlohmann::json& column : json.at("columns")) {
      table.columns.push_back({column.at("title"), column.at("program"), column.value("pass", "")});
      counts.emplace_back(table.columns.back(), json);
    }
    for (const nlohmann::json& row : json.at("rows")) {
      SourceRow& entry = table.rows.emplace_back(SourceRow{row.at("title"), {}});
      for (std::size_t i = 0; i < counts.size(); ++i) {
        entry.cells.push_back(source_cell(row.at("cells").at(i), counts[i]));
      }
    }
    return table;
  }
  const std::vector<std::string> names = source_table_names();
  throw request_failure("there is no table '" + name + "'", "one of " + joined(names),
                        nearest(name, names).value_or(""));
}

}  // namespace flashlab::cli
