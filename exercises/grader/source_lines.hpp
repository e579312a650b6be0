// Lines of a submission, as they may be shown: untrusted text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exercises/grader/verdict.hpp"
#include "toymachine/source.hpp"

namespace flashlab::exercises {

/// UTF-8 that acts on no terminal: control characters, invalid bytes and direction marks as '?';
/// cut after `most` bytes.
std::string harmless(std::string_view text, std::size_t most = 200);

/// "   12 | MAC R0, R1, R2, R2" as a further line of the finding.
void append_source_line(Finding& finding, const toy::SourceText& source, std::uint32_t line);

}  // namespace flashlab::exercises
