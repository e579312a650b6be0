// Measures text in columns of a terminal, and fits it into a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

/// Returns the columns of UTF-8 text. Colour codes (ESC … m) and combining marks take 0 columns,
/// East Asian wide letters 2, a byte of invalid UTF-8 1.
std::size_t display_width(std::string_view text);

/// Returns the columns of the text, each with its bytes. Combining marks are in the column before,
/// and the second column of a wide letter is empty. Colour codes are left out.
std::vector<std::string> display_cells(std::string_view text);

/// Return where the character before byte `at`, or at it, starts and ends as a terminal shows it: a letter
/// with its combining marks. `at` stands between such characters. At the start or the end of the text: `at`.
std::size_t start_of_cell(std::string_view text, std::size_t at);
std::size_t end_of_cell(std::string_view text, std::size_t at);

/// Returns the text in exactly `width` columns: padded on the right, or cut with an ellipsis.
std::string fitted(std::string_view text, std::size_t width, bool unicode);

/// Breaks the text into lines of at most `width` columns, between words if possible. Keeps blanks
/// at the start, and "n = 8", or code between backticks, on one line if it fits on one. A longer word is broken
/// where end_of_part() says.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Returns where the part of a word that starts at byte `at` ends: after a slash of a path, after a factor of
/// a product (⌈n/B⌉·⌈nk/Bk⌉), at the next blank, or at the end of the text. Neither names nor quotients are broken.
std::size_t end_of_part(std::string_view text, std::size_t at);

/// Returns the lines of wrap(), each with its end.
std::string wrapped(std::string_view text, std::size_t width);

/// Arranges the words of a text in lines of at most `width` columns, with one blank between words.
/// A longer word gets its own line.
std::vector<std::string> paragraph_lines(std::string_view text, std::size_t width);

}  // namespace flashlab
