#include "compare/counters/csv_table.hpp"

#include <algorithm>
#include <utility>

namespace flashlab::compare {
namespace {

/// The text of a quoted field that begins at `place`. Moves `place` behind the closing quote.
std::optional<std::string> quoted_text(std::string_view line, std::size_t& place) {
  std::string text;
  for (++place; place < line.size(); ++place) {
    if (line[place] != '"') {
      text += line[place];
    } else if (place + 1 < line.size() && line[place + 1] == '"') {
      text += line[++place];
    } else {
      ++place;
      return text;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<CsvField>> csv_fields(std::string_view line, int& open_quote) {
  std::vector<CsvField> fields;
  std::size_t place = 0;
  while (true) {
    CsvField field;
    field.column = static_cast<int>(place) + 1;
    if (place < line.size() && line[place] == '"') {
      const std::optional<std::string> text = quoted_text(line, place);
      if (!text) {
        open_quote = field.column;
        return std::nullopt;
      }
      field.text = *text;
    }
    const std::size_t comma = std::min(line.find(',', place), line.size());
    field.text += line.substr(place, comma - place);
    fields.push_back(std::move(field));
    if (comma == line.size()) return fields;
    place = comma + 1;
  }
}

}  // namespace flashlab::compare
