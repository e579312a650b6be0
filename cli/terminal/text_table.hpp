// Aligned tables that fit the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "text/digits.hpp"

namespace flashlab::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

/// Cells are UTF-8 and may contain escape codes. If a table is too wide, its left-aligned columns
/// are wrapped between words. If that is not enough, the remaining columns follow in further blocks
/// below, each of which repeats the first column. A path in a column that does not fit beside the first
/// one is wrapped after slashes; a name is never broken, even if it is wider than the terminal.
class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row. Missing cells are empty.
  void row(std::vector<std::string> cells);
  /// Adds a line across the table before the next row.
  void rule() { row({}); }
  bool empty() const { return rows_.empty(); }

  std::string to_string(const Terminal& terminal) const;

 private:
  using Widths = std::vector<std::size_t>;  // by column
  using Block = std::vector<std::size_t>;   // columns that stand side by side
  Widths natural_widths() const;
  std::size_t narrowest(std::size_t column, bool breaks_paths) const;
  Widths least_widths(std::size_t available) const;
  static void wrap_to_fit(Widths& widths, const Block& block, const Widths& least,
                          std::size_t available);
  void print_block(const Block& block, const Widths& widths, const Terminal& terminal,
                   std::string& text) const;
  void print_row(const std::vector<std::string>& cells, const Block& block, const Widths& widths,
                 const Terminal* bold, std::string& text) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

using flashlab::grouped;

std::string grouped_number(std::int64_t value);
std::string grouped_number(std::uint64_t value);

/// Returns "1 head", "2 heads".
std::string counted(std::int64_t number, const std::string& what);

/// Returns two texts side by side, or nothing if the terminal is too narrow.
std::string side_by_side(const std::string& left, const std::string& right,
                         const Terminal& terminal);

}  // namespace flashlab::cli
