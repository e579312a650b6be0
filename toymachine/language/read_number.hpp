// A number at the start of a text. libc++ before 20 has no std::from_chars for doubles, so this is
// the one place that calls it; a test keeps the others from it.
#pragma once

#include <charconv>
#include <concepts>
#include <string_view>

namespace flashlab::toy {

/// As std::from_chars(first, last, value) of the standard, in its general format: no locale, no
/// blanks, no `+`; `inf`, `nan` in any case; the double nearest to what is written. `ptr` is behind
/// the last character read, which is the start of `text` when it begins with no number
/// (std::errc::invalid_argument). A number too large, or too small to be told from zero, is
/// std::errc::result_out_of_range. After both, `value` is as it was.
std::from_chars_result read_number(std::string_view text, double& value);

/// The same for whole numbers.
template <std::integral Integer>
std::from_chars_result read_number(std::string_view text, Integer& value, int base = 10) {
  return std::from_chars(text.data(), text.data() + text.size(), value, base);
}

}  // namespace flashlab::toy
