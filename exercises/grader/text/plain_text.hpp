// Text that comes from outside, made fit to be shown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::exercises {

/// Where the first byte is that is no UTF-8, or the first character that acts on a terminal or
/// reorders text: control characters but for tab and line ends, and bidirectional controls.
std::optional<std::size_t> first_unprintable(std::string_view text);

/// The same text with '?' for each such byte or character.
std::string printable(std::string_view text);

/// "2", "1.5", "0.01": at most six digits.
std::string short_text(double number);

/// Runs of blanks and line ends as one blank, none at the ends.
std::string on_one_line(std::string_view text);

/// Lines of at most `width` characters, broken between words; a longer word stands alone.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace flashlab::exercises
