// Formats a program's text: only whitespace changes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// Returns the lines of the formatted text, the last one empty, so that joined by line ends they end
/// with one. Formatting them again changes nothing, and the program means the same.
///
///   - Lines are indented by two spaces for each loop around them.
///   - In instructions and loops, words are separated by one space, with none before a comma or
///     inside a bracket's ends. Directives keep their spaces, which may align columns.
///   - Comments at the end of a line keep their column if they can. A comment alone on its line is
///     indented like code, or stands below the comment of the line before if it did.
///   - Titles of passes and what the lexer refuses stay as they are.
///   - Blanks at the end of lines and empty lines at the end of the text are removed.
///
/// Works also for programs with errors. A text over Limits::max_source_bytes keeps its lines.
std::vector<std::string> formatted_lines(const SourceText& source);

/// Bytes from one column of a line up to another, from 1, and what stands there instead.
struct LineEdit {
  std::size_t from = 1, to = 1;
  std::string_view text;

  bool operator==(const LineEdit&) const = default;
};

/// Returns what makes a line the formatted one, in order: one edit for each run of blanks that
/// differs, so that a cursor in a word stays in it.
std::vector<LineEdit> line_edits(std::string_view line, std::string_view formatted);

/// Returns the lines as one text, with the source's kind of line ends (that of its first line).
std::string formatted(const SourceText& source);

}  // namespace flashlab::toy
