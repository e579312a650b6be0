// Numbers as text for people.
#pragma once

#include <cstdio>
#include <string>

namespace flashlab::toy::detail {

/// Writes the number with at most this many digits, fewer if they are enough: "0.5", "1e-09".
inline std::string number_text(double value, int digits) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

}  // namespace flashlab::toy::detail
