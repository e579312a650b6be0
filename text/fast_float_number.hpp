// Reads doubles if the standard library cannot: libc++ before 20.
#pragma once

#include <fast_float/fast_float.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace flashlab::detail {

/// Versions of fast_float before 5 return infinity and zero for numbers out of range. `number` is
/// the text that was read.
inline bool is_out_of_range(std::string_view number, double value) {
  if (std::isinf(value)) return number.find_first_of("0123456789") != std::string_view::npos;
  if (value != 0) return false;
  const std::string_view mantissa = number.substr(0, number.find_first_of("eE"));
  return mantissa.find_first_of("123456789") != std::string_view::npos;
}

/// Like std::from_chars; a test compares the two.
inline std::from_chars_result read_with_fast_float(std::string_view text, double& value) {
  const char* const first = text.data();
  double number = 0;
  const auto [end, code] = fast_float::from_chars(first, first + text.size(), number);
  if (code != std::errc{}) return {end, code};
  if (is_out_of_range(text.substr(0, static_cast<std::size_t>(end - first)), number)) {
    return {end, std::errc::result_out_of_range};
  }
  value = number;
  return {end, std::errc{}};
}

}  // namespace flashlab::detail
