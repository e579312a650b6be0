// Text inside Markdown, which editors show. Programs name things `_o_` and write n*k*m: without
// care these are emphasis.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

/// Returns a text of one line as code. Backticks inside are allowed.
std::string markdown_code(std::string_view text);

/// Escapes the characters that Markdown reads as its own.
std::string markdown_text(std::string_view text);

/// Returns a Markdown text without its signs: paragraphs, `**bold**`, code, escapes, fenced blocks
/// and rules are understood.
std::string without_markdown(std::string_view markdown);

}  // namespace flashlab
