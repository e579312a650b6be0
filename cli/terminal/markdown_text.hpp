// Formats Markdown for the terminal: the parts that problems and hints use.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// Formats headings, paragraphs, lists, tables and code (fenced or indented), with **bold**, `code`
/// and [links](to). Wraps all but code to the terminal. Without colour, headings are underlined and
/// code keeps its quotes. Control characters become '?'. Signs such as … and × become letters if
/// the terminal has no Unicode. Ends with a newline unless empty.
std::string markdown_text(std::string_view markdown, const Terminal& terminal);

}  // namespace flashlab::cli
