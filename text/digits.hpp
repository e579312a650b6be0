// Long numbers in groups of digits.
#pragma once

#include <cstddef>
#include <string>

namespace flashlab {

/// Returns "1 234 567" for "1234567": digits in groups of three, from five digits on.
inline std::string grouped(const std::string& digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  if (digits.size() - first <= 4) return digits;
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) result += ' ';
    result += digits[i];
  }
  return result;
}

}  // namespace flashlab
