// Markdown for the terminal: as much of it as problems and hints use.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// Headings, paragraphs, lists, tables and code (fenced or indented), wrapped to the terminal but
/// for code; **bold**, `code` and [links](to) inside. Without colour a heading is underlined and
/// code keeps its quotes. Control characters come out as '?', and
/// signs such as … and × in letters where the terminal has no Unicode. Ends with a newline unless
/// empty.
std::string markdown_text(std::string_view markdown, const Terminal& terminal);

}  // namespace flashlab::cli
