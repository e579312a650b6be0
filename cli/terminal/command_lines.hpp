// Text with commands to type, in a narrow window.
#pragma once

#include <string>

#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

/// Returns the text in lines that fit the terminal. In a line that does not, the command (`flashlab
/// …` up to the end of the line) moves to a line of its own, and goes on after a backslash if it is
/// still too long: so it can be copied as it stands.
std::string fitted_lines(const std::string& text, const Terminal& terminal);

}  // namespace flashlab::cli
