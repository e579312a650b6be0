// Splits texts into parts, trims them, and joins lists into one text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

/// Returns the parts before, between and after the separators.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// Returns the text without the blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\n\v\f\r");

/// Returns a cell of a CSV file: in quotes if it contains a comma, a quote or a line end.
std::string csv_cell(std::string_view text);

/// Returns "a, b, c", with text_of(entry) for each entry. Empty texts at the start are left out.
template <class List, class TextOf = std::identity>
std::string joined(const List& list, std::string_view separator = ", ",
                   const TextOf& text_of = {}) {
  std::string text;
  for (const auto& entry : list) {
    if (!text.empty()) text += separator;
    text += std::invoke(text_of, entry);
  }
  return text;
}

}  // namespace flashlab
