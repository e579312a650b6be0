// Decodes UTF-8 text, one character after another (with libutf8proc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flashlab {

/// The mark that some editors write before the first character. It is no part of a text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns the text without a byte order mark at its start.
constexpr std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  // otherwise `code` is one byte of invalid UTF-8
};

/// Returns the character at byte `at` of the text, by the strict rules: shortest
/// form, no surrogates.
CodePoint code_point(std::string_view text, std::size_t at);

/// Returns whether a character must not be shown as it is. That holds for invalid UTF-8 and for
/// everything that acts on a terminal, reorders a line or cannot be seen: control characters (tabs
/// and line ends among them), format characters (Unicode's category Cf), line and paragraph
/// separators, and what Unicode reserves.
bool is_odd(const CodePoint& point);

}  // namespace flashlab
