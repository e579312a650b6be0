// How many columns of a terminal text takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashlab::toy::detail {

/// Columns of UTF-8 text: combining marks take none, East Asian wide letters two.
std::size_t display_width(std::string_view text);

/// The text in exactly `width` columns: padded on the right, or cut with an ellipsis.
std::string fitted(std::string_view text, std::size_t width, bool unicode);

/// Bytes that are no UTF-8, and control characters, as '?'.
std::string printable(std::string_view text);

}  // namespace flashlab::toy::detail
