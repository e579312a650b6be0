// Splits lines of comma-separated values, with the place of each field for messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::compare {

struct CsvField {
  std::string text;  // without its quotes
  int column = 1;    // start in the line, from 1, in bytes
};

/// Returns the fields of one line. Within quotes a comma is text and "" is a quote. Returns nothing
/// if a quote is not closed in the line; it begins at byte `open_quote` (from 1).
std::optional<std::vector<CsvField>> csv_fields(std::string_view line, int& open_quote);

}  // namespace flashlab::compare
