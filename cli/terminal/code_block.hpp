// Fits blocks of code (programs, commands, tables that a command printed) into a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::cli {

/// Returns the lines of a code block in at most `width` columns, if its words allow that. A table
/// that is too wide continues in further blocks below, each of which repeats the columns that name
/// its rows. Other lines continue on the next line: a comment as a comment, a command of a block in
/// `language` "sh" as the shell continues it, text under the text that it continues.
std::vector<std::string> fitted_code(const std::vector<std::string>& lines, std::size_t width,
                                     std::string_view language = {});

/// Breaks a command that is longer than `width` where a shell can read it: behind a '|', or behind
/// a '\' between words. Does not break inside quotes.
std::vector<std::string> command_lines(std::string_view command, std::size_t width);

}  // namespace flashlab::cli
