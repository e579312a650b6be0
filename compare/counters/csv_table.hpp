// Lines of comma-separated values, with the place of each field for messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::compare {

struct CsvField {
  std::string text;  // without its quotes
  int column = 1;    // where it begins in its line, from 1, in bytes
};

/// The fields of one line; within quotes a comma is text and "" is a quote. Nothing: a quote that
/// does not end in the line, which begins at byte `open_quote` (from 1).
std::optional<std::vector<CsvField>> csv_fields(std::string_view line, int& open_quote);

}  // namespace flashlab::compare
