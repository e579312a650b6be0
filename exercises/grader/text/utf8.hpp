// Characters of UTF-8 text, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flashlab::exercises {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  // otherwise `code` is one byte that is no UTF-8
};

/// The character that begins at `at`, by the strict rules: shortest form, no surrogates.
CodePoint code_point(std::string_view text, std::size_t at);

/// No UTF-8, or something that acts on a terminal, reorders a line or cannot be seen: controls
/// (tabs and line ends among them), marks of writing direction, invisible operators, what Unicode
/// keeps free.
bool is_odd(const CodePoint& point);

}  // namespace flashlab::exercises
