// "did you mean": the word that was probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

/// Returns the candidate nearest to `word` by edit distance (ignoring letter case), or nothing if
/// none is near enough to be a typing error.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

}  // namespace flashlab
