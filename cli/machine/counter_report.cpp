#include "cli/machine/counter_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/options/options.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

using toy::BoundArray;
using toy::BoundProgram;
using toy::Count;
using toy::Counters;

/// Returns the counters of the whole program, then of each shown pass.
std::vector<Counters> counters_of_columns(const BoundProgram& bound,
                                          const toy::Executions& executions,
                                          const toy::CostTable& costs) {
  std::vector<Counters> columns{toy::count(bound, executions, costs)};
  for (const std::size_t pass : shown_passes(*bound.program)) {
    columns.push_back(toy::count_pass(bound, executions, costs, pass));
  }
  return columns;
}

template <class GetCount>
void add_row(TextTable& table, const std::string& name, const std::vector<Counters>& columns,
             GetCount get) {
  std::vector<std::string> cells{name};
  for (const Counters& counters : columns) {
    const Count& count = get(counters);
    cells.push_back(count == 0 ? "-" : grouped(count.get_str()));
  }
  table.row(std::move(cells));
}

std::string cell_of_count(double value) { return std::isnan(value) ? "?" : short_text(value); }

/// The shown part of a long axis: the first and the last few.
struct Window {
  std::int64_t extent, head, tail;
  Window(std::int64_t all, std::int64_t most)
      : extent(all), head(all <= most ? all : most - most / 4), tail(all <= most ? 0 : most / 4) {}
  bool shows(std::int64_t i) const { return i < head || i >= extent - tail; }
  bool elides_after(std::int64_t i) const { return head < extent && i + 1 == head; }
};

/// The number of executions of an instruction.
struct Share {
  Count executed;
  std::size_t row;
};

/// Returns loads, then compute, then stores. Products with and without an addend are counted
/// together, under the later name, unless their costs differ.
std::vector<Share> shares_of_cost(const Counters& counters, const toy::CostTable& costs) {
  const auto instructions = toy::instruction_set();
  const auto is_product = [&](std::size_t row) {
    return instructions[row].flop_kind == toy::FlopKind::kProduct;
  };
  std::vector<Share> shares;
  for (const int kind : {0, 1, 2}) {
    for (std::size_t row = 0; row < instructions.size(); ++row) {
      const toy::InstructionSpec& spec = instructions[row];
      const Count& executed = counters.by_instruction[row];
      if (executed == 0 || kind != (spec.is_load() ? 0 : spec.is_store() ? 2 : 1)) continue;
      if (!shares.empty() && is_product(row) && is_product(shares.back().row) &&
          costs.cycles(row) == costs.cycles(shares.back().row)) {
        shares.back() = {shares.back().executed + executed, row};
      } else {
        shares.push_back({executed, row});
      }
    }
  }
  return shares;
}

/// How an array's traffic is shown: as instructions, each of which moves one tile, and as elements.
struct TrafficRow {
  const char* verb;
  Count toy::ArrayTraffic::*tiles;
  Count toy::ArrayTraffic::*elements;
};
constexpr TrafficRow kTrafficRows[] = {
    {"loaded", &toy::ArrayTraffic::loads, &toy::ArrayTraffic::elements_loaded},
    {"stored", &toy::ArrayTraffic::stores, &toy::ArrayTraffic::elements_stored},
    {"updated", &toy::ArrayTraffic::updates, &toy::ArrayTraffic::elements_updated},
};

std::vector<std::string> row_cells(std::span<const double> row, std::int64_t most) {
  const Window window(static_cast<std::int64_t>(row.size()), most);
  std::vector<std::string> cells;
  for (std::int64_t i = 0; i < window.extent; ++i) {
    if (window.shows(i)) cells.push_back(cell_of_count(row[static_cast<std::size_t>(i)]));
    if (window.elides_after(i)) cells.emplace_back("...");
  }
  return cells;
}

Json nested(const BoundArray& array, std::span<const double> dram, std::size_t axis,
            std::size_t& next) {
  if (axis == array.extents.size()) return value_json(dram[next++]);
  Json list = Json::array();
  for (std::int64_t i = 0; i < array.extents[axis]; ++i) {
    list.push_back(nested(array, dram, axis + 1, next));
  }
  return list;
}

}  // namespace

Json value_json(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

std::string spoken(std::string_view key) {
  std::string text(key);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string effect_text(const toy::InstructionSpec& spec, const Terminal& terminal) {
  std::string text(spec.effect);
  const std::size_t times = text.find(" x ");
  if (terminal.unicode && times != std::string::npos) text.replace(times, 3, " × ");
  return text;
}

Json counters_json(const BoundProgram& bound, const Counters& counters) {
  Json json;
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    json[description.key] = toy::count_json(counters.*description.value);
  }
  json["by_op"] = Json::object();
  for (std::size_t row = 0; row < counters.by_instruction.size(); ++row) {
    if (counters.by_instruction[row] == 0) continue;
    json["by_op"][std::string(toy::instruction_set()[row].mnemonic)] =
        toy::count_json(counters.by_instruction[row]);
  }
  json["by_array"] = Json::object();
  for (std::size_t i = 0; i < counters.by_array.size(); ++i) {
    const toy::ArrayTraffic& traffic = counters.by_array[i];
    json["by_array"][bound.arrays[i].name] = {
        {"loads", toy::count_json(traffic.loads)},
        {"stores", toy::count_json(traffic.stores)},
        {"updates", toy::count_json(traffic.updates)},
        {"elements_loaded", toy::count_json(traffic.elements_loaded)},
        {"elements_stored", toy::count_json(traffic.elements_stored)},
        {"elements_updated", toy::count_json(traffic.elements_updated)},
        {"bytes_loaded", toy::count_json(traffic.bytes_loaded)},
        {"bytes_stored", toy::count_json(traffic.bytes_stored)},
        {"bytes_updated", toy::count_json(traffic.bytes_updated)}};
  }
  return json;
}

std::vector<std::size_t> shown_passes(const toy::Program& program) {
  std::vector<std::size_t> shown;
  for (std::size_t pass = 0; pass < program.passes.size(); ++pass) {
    if (!program.passes[pass].empty()) shown.push_back(pass);
  }
  return shown;
}

std::string pass_title(const toy::Program& program, std::size_t pass, std::size_t position) {
  return std::to_string(position) + ". " + printable(program.passes[pass]);
}

Json all_counters_json(const BoundProgram& bound, const toy::Executions& executions,
                       const toy::CostTable& costs) {
  Json json = counters_json(bound, toy::count(bound, executions, costs));
  json["peak_registers"] = toy::peak_registers(bound);
  const auto bytes = toy::peak_register_bytes(bound);
  json["peak_register_bytes"] = bytes ? Json(bytes->bytes) : Json(nullptr);
  json["peak_dram_bytes"] = toy::count_json(toy::peak_dram_bytes(bound, executions));
  json["by_pass"] = Json::array();
  for (const std::size_t pass : shown_passes(*bound.program)) {
    Json one{{"pass", bound.program->passes[pass]}};
    one.update(counters_json(bound, toy::count_pass(bound, executions, costs, pass)));
    json["by_pass"].push_back(std::move(one));
  }
  return json;
}

Json params_json(const BoundProgram& bound) {
  Json json = Json::object();
  for (const std::size_t i : common_params(bound)) {
    json[bound.program->params[i].name] = bound.params[i];
  }
  return json;
}

std::string counters_table(const BoundProgram& bound, const toy::Executions& executions,
                           const toy::CostTable& costs, const Terminal& terminal) {
  std::vector<Column> titles{{"counter"}, {"all", Align::kRight}};
  std::size_t position = 0;
  for (const std::size_t pass : shown_passes(*bound.program)) {
    titles.push_back({pass_title(*bound.program, pass, ++position), Align::kRight});
  }
  const std::vector<Counters> columns = counters_of_columns(bound, executions, costs);
  TextTable table(std::move(titles));
  for (const toy::CounterDescription& description : toy::counter_descriptions()) {
    if (description.is_rare && columns[0].*description.value == 0) continue;
    add_row(table, spoken(description.key), columns,
            [&](const Counters& c) -> const Count& { return c.*description.value; });
  }
  table.row({"peak registers", std::to_string(toy::peak_registers(bound))});
  if (const auto bytes = bound.tiled ? toy::peak_register_bytes(bound) : std::nullopt) {
    table.row({"peak register bytes", grouped(std::to_string(bytes->bytes))});
  }
  table.row({"peak DRAM bytes", grouped(toy::peak_dram_bytes(bound, executions).get_str())});
  table.rule();
  for (std::size_t row = 0; row < columns[0].by_instruction.size(); ++row) {
    if (columns[0].by_instruction[row] == 0) continue;
    add_row(table, std::string(toy::instruction_set()[row].mnemonic), columns,
            [row](const Counters& c) -> const Count& { return c.by_instruction[row]; });
  }
  table.rule();
  for (std::size_t i = 0; i < bound.arrays.size(); ++i) {
    for (const TrafficRow& row : kTrafficRows) {
      const auto by = [&](Count toy::ArrayTraffic::*value, const std::string& unit) {
        if (columns[0].by_array[i].*value == 0) return;
        add_row(table, bound.arrays[i].name + " " + row.verb + unit, columns,
                [&](const Counters& c) -> const Count& { return c.by_array[i].*value; });
      };
      if (bound.tiled) by(row.tiles, ", tiles");
      by(row.elements, bound.tiled ? ", elements" : "");
    }
  }
  return table.to_string(terminal);
}

std::string cost_sentence(const BoundProgram& bound, const toy::Executions& executions,
                          const toy::CostTable& costs) {
  const Counters counters = toy::count(bound, executions, costs);
  std::string text;
  for (const auto& [executed, row] : shares_of_cost(counters, costs)) {
    const std::int64_t cycles = costs.cycles(row);
    text += (text.empty() ? "" : " + ") + grouped(executed.get_str()) + " " +
            std::string(toy::instruction_set()[row].mnemonic) +
            (cycles == 1 ? "" : " at " + std::to_string(cycles));
  }
  return (text.empty() ? "0" : text) + " = " + grouped(counters.cycles.get_str()) +
         (counters.cycles == 1 ? " cycle" : " cycles");
}

Json array_json(const BoundArray& array, std::span<const double> dram) {
  auto next = static_cast<std::size_t>(array.offset);
  return nested(array, dram, 0, next);
}

std::string array_text(const BoundArray& array, std::span<const double> dram,
                       const Terminal& terminal) {
  constexpr std::int64_t kMostRows = 16;
  constexpr std::size_t kCellWidth = 12;  // including the gap before it
  const std::int64_t columns = array.extents.empty() ? 1 : array.extents.back();
  const std::int64_t rows = columns == 0 ? 0 : array.size / columns;
  const bool is_matrix = array.extents.size() > 1;
  const std::size_t per_line = std::max<std::size_t>(
      2, (terminal.width - std::min(terminal.width, array.name.size() + 4)) / (kCellWidth + 1));
  const Window shown_rows(rows, kMostRows);
  const std::int64_t most =
      static_cast<std::int64_t>(is_matrix ? per_line - 1 : per_line * kMostRows - 1);
  const std::string blank(array.name.size() + 4, ' ');
  std::string text, start = "  " + array.name + "  ";
  if (array.size == 0) return start + "(no elements)\n";
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!shown_rows.shows(row)) continue;
    const std::vector<std::string> cells =
        row_cells(dram.subspan(static_cast<std::size_t>(array.offset + row * columns),
                               static_cast<std::size_t>(columns)),
                  std::max<std::int64_t>(most, 1));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i % per_line == 0) text += (i > 0 ? "\n" : "") + std::exchange(start, blank);
      text += (i % per_line == 0 ? "" : " ") +
              std::string(kCellWidth - std::min(kCellWidth, cells[i].size()), ' ') + cells[i];
    }
    text += "\n";
    if (shown_rows.elides_after(row)) text += blank + "...\n";
  }
  return text;
}

}  // namespace flashlab::cli
