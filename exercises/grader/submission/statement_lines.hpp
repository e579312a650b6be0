// Lines of a program's text, for comparisons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Returns the line's words without its comment: "LOAD", "x[i]", "R0".
std::vector<std::string> words(std::string_view line);

/// Returns the nearest line above (step -1) or below (step 1) with an instruction, `for` or
/// `end`, or 0.
std::uint32_t next_statement(const toy::SourceText& source, std::uint32_t line, int step);

}  // namespace flashlab::exercises
