// Lines of a submission, made safe to show: they are untrusted text.
#pragma once

#include <cstdint>

#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Adds "   12 | MAC R0, R1, R2, R2" to the finding's details.
void append_source_line(Finding& finding, const toy::SourceText& source, std::uint32_t line);

}  // namespace flashlab::exercises
