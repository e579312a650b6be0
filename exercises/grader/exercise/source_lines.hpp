// Lines of a submission, as they may be shown: untrusted text.
#pragma once

#include <cstdint>

#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// "   12 | MAC R0, R1, R2, R2" as a further line of the finding.
void append_source_line(Finding& finding, const toy::SourceText& source, std::uint32_t line);

}  // namespace flashlab::exercises
