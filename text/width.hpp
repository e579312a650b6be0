// How many columns of a terminal text takes, and how it is fitted into them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

/// Columns of UTF-8 text. Colour codes (ESC … m) and combining marks take none, East Asian wide
/// letters two, a byte that is no UTF-8 one.
std::size_t display_width(std::string_view text);

/// The text in exactly `width` columns: padded on the right, or cut with an ellipsis.
std::string fitted(std::string_view text, std::size_t width, bool unicode);

/// The text in lines of at most `width` columns, broken between words where there are any. Blanks
/// at the start stay.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The words of a text in lines of at most `width` columns, with one blank between words. A word
/// that is longer stands alone.
std::vector<std::string> paragraph_lines(std::string_view text, std::size_t width);

}  // namespace flashlab
