#include "exercises/grader/text/utf8.hpp"

#include <algorithm>
#include <array>

namespace flashlab::exercises {

CodePoint code_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xC2 || first > 0xF4 || text.size() - at < bytes) return {first, 1, false};
  std::uint32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const std::uint32_t next = byte(at + i);
    if ((next & 0xC0U) != 0x80) return {first, 1, false};
    code = code << 6 | (next & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return {first, 1, false};
  return {code, bytes, true};
}

bool is_odd(const CodePoint& point) {
  struct Stretch {
    std::uint32_t first, last;
  };
  // Controls, soft hyphen, marks of writing direction, line separators, invisible operators, byte
  // order mark, annotation marks, what Unicode keeps free, tags.
  constexpr std::array<Stretch, 11> kOdd{{{0x00, 0x1F},
                                          {0x7F, 0x9F},
                                          {0xAD, 0xAD},
                                          {0x61C, 0x61C},
                                          {0x200B, 0x200F},
                                          {0x2028, 0x202E},
                                          {0x2060, 0x206F},
                                          {0xFDD0, 0xFDEF},
                                          {0xFEFF, 0xFEFF},
                                          {0xFFF9, 0xFFFB},
                                          {0xE0000, 0xE0FFF}}};
  if (!point.valid || (point.code & 0xFFFEU) == 0xFFFE) return true;
  return std::any_of(kOdd.begin(), kOdd.end(), [&](const Stretch& range) {
    return point.code >= range.first && point.code <= range.last;
  });
}

}  // namespace flashlab::exercises
