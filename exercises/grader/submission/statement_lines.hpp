// Lines of a program's text as a reader compares them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// The line's words, without its comment: "LOAD", "x[i]", "R0".
std::vector<std::string> words(std::string_view line);

/// The nearest line above (step -1) or below (step 1) that holds an instruction, `for` or `end`; 0:
/// there is none.
std::uint32_t next_statement(const toy::SourceText& source, std::uint32_t line, int step);

}  // namespace flashlab::exercises
