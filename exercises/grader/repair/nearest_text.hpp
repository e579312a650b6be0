// Between a wrong text and a right one that is written like it: the right text that differs least from
// the wrong one. Another name for a register, or another bound of the same value, is no mistake.
#pragma once

#include <functional>
#include <string>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Returns a text for which `is_right` holds, with as few words and lines of `right` in it as were found.
/// `right` is right itself. Calls `is_right` at most `most_trials` times.
std::string nearest_text(const toy::SourceText& mine, const toy::SourceText& right,
                         const std::function<bool(const std::string&)>& is_right, int most_trials);

}  // namespace flashlab::exercises
