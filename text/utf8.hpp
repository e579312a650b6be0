// Characters of UTF-8 text, one after the other (on libutf8proc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flashlab {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  // otherwise `code` is one byte that is no UTF-8
};

/// The character that begins at byte `at` of the text, by the strict rules: shortest form, no
/// surrogates.
CodePoint code_point(std::string_view text, std::size_t at);

/// Returns whether a character must not be shown as it is. That holds for invalid UTF-8 and for
/// everything that acts on a terminal, reorders a line or cannot be seen: control characters (tabs
/// and line ends among them), format characters (Unicode's category Cf), line and paragraph
/// separators, and what Unicode reserves.
bool is_odd(const CodePoint& point);

}  // namespace flashlab
