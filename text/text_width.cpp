#include "text/text_width.hpp"

#include <cstdint>

namespace flashlab::toy::detail {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {lead, 1, false};
  std::uint32_t value = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const std::uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least || value > 0x10FFFF || surrogate) return {lead, 1, false};
  return {value, length, true};
}

std::size_t columns(std::uint32_t c) {
  const auto in = [c](std::uint32_t low, std::uint32_t high) { return c >= low && c <= high; };
  if (in(0x300, 0x36F) || in(0x200B, 0x200F) || in(0x20D0, 0x20FF) || in(0xFE00, 0xFE0F)) return 0;
  const bool wide = in(0x1100, 0x115F) || in(0x2E80, 0xA4CF) || in(0xAC00, 0xD7A3) ||
                    in(0xF900, 0xFAFF) || in(0xFE30, 0xFE6F) || in(0xFF00, 0xFF60) ||
                    in(0x1F300, 0x1FAFF) || in(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

/// Where a formula that was cut ends if it should not end in an operator: "a + " is cut to "a".
std::size_t end_of_formula(std::string_view text) {
  constexpr std::string_view kLoose[] = {" ", "+", "-", "*", "/", ".", "(", ",", "−", "·", "…"};
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const std::string_view loose : kLoose) {
      if (text.size() <= loose.size() || !text.ends_with(loose)) continue;
      text.remove_suffix(loose.size());
      shorter = true;
    }
  }
  return text.size();
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = first_of(text);
    width += columns(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string fitted(std::string_view text, std::size_t width, bool unicode) {
  const std::size_t natural = display_width(text);
  if (natural <= width) return std::string(text) + std::string(width - natural, ' ');
  const std::string dots = unicode ? "…" : std::string(width < 3 ? width : 3, '.');
  const std::size_t room = width - (unicode ? (width > 0 ? 1 : 0) : dots.size());
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint next = first_of(text);
    if (used + columns(next.value) > room) break;
    used += columns(next.value);
    result += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  result.erase(end_of_formula(result));
  result += width > 0 ? dots : "";
  return result + std::string(width - display_width(result), ' ');
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint next = first_of(text);
    const bool control = next.value < 0x20 || (next.value >= 0x7F && next.value < 0xA0);
    result += !next.valid || control ? "?" : std::string(text.substr(0, next.bytes));
    text.remove_prefix(next.bytes);
  }
  return result;
}

}  // namespace flashlab::toy::detail
