// `flashlab tables`: prints the source's comparison tables, each entry beside the counters.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine/source_tables.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/lists.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

struct TablesFlags {
  std::vector<std::string> names;
  bool json = false;
  TerminalOptions terminal;
};

toy::FormulaStyle style_of(const Terminal& terminal) { return {terminal.unicode, {"n", "s", "d"}}; }

/// Returns the row's differences, each once, for any number of columns.
std::vector<std::string> reasons(const SourceRow& row) {
  std::vector<std::string> all;
  for (const SourceCell& cell : row.cells) {
    for (const Difference& difference : cell.differences) {
      if (std::find(all.begin(), all.end(), difference.why) == all.end()) {
        all.push_back(difference.why);
      }
    }
  }
  return all;
}

/// Returns the entry as written in the source, with raised exponents if the terminal supports them.
std::string entry_text(const SourceCell& cell, const Terminal& terminal) {
  std::string text = cell.text;
  for (std::size_t at = 0; terminal.unicode && (at = text.find("^2")) != std::string::npos;) {
    text.replace(at, 2, "²");
  }
  return text;
}

/// "inner product: flash2; outer product: flash1, pass Attention".
std::string programs_text(const SourceTable& table) {
  std::string text;
  for (const SourceColumn& column : table.columns) {
    text += (text.empty() ? "" : "; ") + column.title + ": " + column.program +
            (column.pass.empty() ? "" : ", pass " + column.pass);
  }
  return text + ".";
}

std::string signed_polynomial(const toy::Polynomial& value, const toy::FormulaStyle& style) {
  const std::string text = toy::to_string(value, style);
  return text.starts_with('-') ? "- " + text.substr(1) : "+ " + text;
}

std::string table_text(const SourceTable& table, const Terminal& terminal) {
  const toy::FormulaStyle style = style_of(terminal);
  std::vector<Column> columns{{""}};
  for (const SourceColumn& column : table.columns) {
    columns.push_back({column.title, Align::kRight});
    columns.push_back({"counted", Align::kRight});
  }
  TextTable text(std::move(columns));
  for (const SourceRow& row : table.rows) {
    std::vector<std::string> cells{row.title};
    for (const SourceCell& cell : row.cells) {
      cells.push_back(entry_text(cell, terminal));
      cells.push_back(cell.empty ? ""
                                 : toy::to_string(cell.counted, style) +
                                       (cell.adds_up() ? "" : " does not add up"));
    }
    text.row(std::move(cells));
    for (const std::string& why : reasons(row)) {
      std::vector<std::string> lines{"  " + why};
      for (const SourceCell& cell : row.cells) {
        std::string amount;
        for (const Difference& difference : cell.differences) {
          if (difference.why == why) amount = signed_polynomial(difference.formula, style);
        }
        lines.insert(lines.end(), {"", amount});
      }
      text.row(std::move(lines));
    }
  }
  std::string result = styled(table.title, Style::kBold, terminal) + "\n";
  for (const std::string& line : wrap(programs_text(table), terminal.width)) result += line + "\n";
  if (!table.note.empty()) {
    for (const std::string& line : wrap(table.note, terminal.width)) result += line + "\n";
  }
  return result + "\n" + text.to_string(terminal);
}

nlohmann::ordered_json table_json(const SourceTable& table) {
  nlohmann::ordered_json json{{"name", table.name},
                              {"title", table.title},
                              {"source", table.source},
                              {"note", table.note},
                              {"rows", nlohmann::ordered_json::array()}};
  for (const SourceRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const SourceCell& cell = row.cells[i];
      if (cell.empty) continue;
      nlohmann::ordered_json entry{{"row", row.title},
                                   {"column", table.columns[i].title},
                                   {"program", table.columns[i].program},
                                   {"pass", table.columns[i].pass}};
      entry["stated"] =
          cell.has_entry ? nlohmann::ordered_json(toy::to_string(cell.entry)) : nullptr;
      entry["counted"] = toy::to_string(cell.counted);
      entry["differences"] = nlohmann::ordered_json::array();
      for (const Difference& difference : cell.differences) {
        entry["differences"].push_back(
            {{"why", difference.why}, {"formula", toy::to_string(difference.formula)}});
      }
      entry["adds_up"] = cell.adds_up();
      json["rows"].push_back(std::move(entry));
    }
  }
  return json;
}

int print_tables(const TablesFlags& options) {
  const std::vector<std::string> names =
      options.names.empty() ? source_table_names() : options.names;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const Terminal terminal = options.terminal.terminal();
  bool adds_up = true;
  for (const std::string& name : names) {
    const SourceTable table = source_table(name);
    for (const SourceRow& row : table.rows) {
      for (const SourceCell& cell : row.cells) adds_up = adds_up && cell.adds_up();
    }
    if (options.json) {
      list.push_back(table_json(table));
    } else {
      std::cout << (name == names.front() ? "" : "\n") << table_text(table, terminal);
    }
  }
  if (options.json) std::cout << list.dump(2) << "\n";
  return adds_up ? kExitGood : kExitProgramWrong;
}

}  // namespace

CommandAction add_tables(CLI::App& app) {
  auto options = std::make_shared<TablesFlags>();
  CLI::App& command = add_command(
      app, "tables", "The course's comparison tables: what is claimed, and what is counted",
      "  flashlab tables                     all of them\n"
      "  flashlab tables loop-orders         the costs of flash2 and flash1\n"
      "  flashlab tables spectrum --json\n");
  add_option(command, "name", options->names, "which: " + joined(source_table_names()))
      .type_name("NAME...");
  add_flag(command, "--json", options->json, "as JSON");
  options->terminal.add_to(command);
  return [options] { return print_tables(*options); };
}

}  // namespace flashlab::cli
