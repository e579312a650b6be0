// Which lines of a text differ from those of another one, whatever their comments and spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Lines of one text, and the lines of the other that stand in their place.
struct LineDifference {
  std::vector<std::uint32_t> mine;     // line numbers; empty: the other text has lines more
  std::vector<std::uint32_t> other;    // line numbers of the other text
  std::uint32_t above = 0, below = 0;  // the lines of the first text beside them; 0: none
};

/// Further apart, two texts are other programs, and their differences explain nothing.
inline constexpr std::size_t kMostDifferentLines = 10;  // of both texts

/// Returns the differences from top to bottom; nothing if the texts differ in more lines.
std::optional<std::vector<LineDifference>> line_differences(
    const toy::SourceText& mine, const toy::SourceText& other,
    std::size_t most_lines = kMostDifferentLines);

/// Returns the first text with the other's lines in place of its own at these differences.
std::string replaced_text(const toy::SourceText& mine, const toy::SourceText& other,
                          const std::vector<LineDifference>& differences);

}  // namespace flashlab::exercises
