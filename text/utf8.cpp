#include "text/utf8.hpp"

#include <utf8proc.h>

namespace flashlab {

CodePoint code_point(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1, true};
  const auto* first = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(first, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (bytes <= 0) return {*first, 1, false};
  return {static_cast<std::uint32_t>(code), static_cast<std::size_t>(bytes), true};
}

bool is_odd(const CodePoint& point) {
  const auto in = [&](std::uint32_t first, std::uint32_t last) {
    return point.code >= first && point.code <= last;
  };
  if (!point.valid) return true;
  if (point.code < 0x80) return point.code < 0x20 || point.code == 0x7F;
  const bool is_noncharacter = (point.code & 0xFFFEU) == 0xFFFE || in(0xFDD0, 0xFDEF);
  const bool is_invisible = in(0x2060, 0x206F) || in(0xE0000, 0xE0FFF);  // operators; tags
  if (is_noncharacter || is_invisible) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(point.code))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

}  // namespace flashlab
