// Reads a number at the start of a text. libc++ before 20 has no std::from_chars for doubles, so
// this is the only place that calls it; a test checks that.
#pragma once

#include <charconv>
#include <concepts>
#include <string_view>

namespace flashlab {

/// Like std::from_chars(first, last, value) of the standard, in its general format: no locale, no
/// blanks, no `+`; `inf` and `nan` in any case; the result is the nearest double. `ptr` is after
/// the last character read, or at the start of `text` if no number begins there
/// (std::errc::invalid_argument). A number that is too large, or too small to differ from zero,
/// gives std::errc::result_out_of_range. After both errors, `value` is unchanged.
std::from_chars_result read_number(std::string_view text, double& value);

/// The same for whole numbers.
template <std::integral Integer>
std::from_chars_result read_number(std::string_view text, Integer& value, int base = 10) {
  return std::from_chars(text.data(), text.data() + text.size(), value, base);
}

/// Reads a text that is one number and nothing else. Returns false for other texts.
template <class Number>
bool read_whole(std::string_view text, Number& value) {
  const auto [end, code] = read_number(text, value);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace flashlab
