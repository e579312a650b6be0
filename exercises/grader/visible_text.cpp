#include "exercises/grader/visible_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace flashlab::exercises {
namespace {

struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  // otherwise `code` is one byte that is no UTF-8
};

/// The character that begins at `at`, by the strict rules: shortest form, no surrogates.
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
  struct Range {
    std::uint32_t first, last;
  };
  // Controls, soft hyphen, marks of writing direction, line separators, invisible operators, byte
  // order mark, annotation marks, what Unicode keeps free, tags.
  constexpr std::array<Range, 11> kOdd{{{0x00, 0x1F},
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
  return std::any_of(kOdd.begin(), kOdd.end(), [&](const Range& range) {
    return point.code >= range.first && point.code <= range.last;
  });
}

std::string escape_of(const CodePoint& point) {
  std::array<char, 16> text{};
  const char* form = point.code < 0x100 ? "\\x%02x" : point.code < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(text.data(), text.size(), form, point.code);
  return text.data();
}

std::string shown(std::string_view text, bool is_name) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (point.code == '\t' && !is_name) {
      result += "    ";  // a line of source and the caret below it have theirs at the same places
    } else if (is_odd(point)) {
      result += escape_of(point);
    } else {
      if (is_name && point.code == '\\') result += '\\';
      result += text.substr(at, point.bytes);
    }
    at += point.bytes;
  }
  return result;
}

}  // namespace

std::string visible(std::string_view text) { return shown(text, false); }

std::string visible_name(std::string_view name) { return shown(name, true); }

std::string visible_start(std::string_view text, std::size_t most_bytes) {
  std::string result = visible(text.substr(0, most_bytes + 4));
  if (result.size() <= most_bytes) return result;
  std::size_t end = 0;
  while (end + code_point(result, end).bytes <= most_bytes) end += code_point(result, end).bytes;
  return result.substr(0, end) + " ...";
}

std::optional<OddCharacter> find_odd_character(std::string_view text) {
  std::optional<OddCharacter> found;
  std::uint32_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    const bool is_space = point.code == '\t' || point.code == '\n' || point.code == '\r';
    if (!is_space && is_odd(point)) {
      if (found) {
        ++found->count;
      } else {
        const auto column = static_cast<std::uint32_t>(at - line_start + 1);
        found = OddCharacter{line, column, escape_of(point)};
      }
      found->is_nul = found->is_nul || point.code == 0;
    }
    at += point.bytes;
    if (point.code == '\n') ++line, line_start = at;
  }
  return found;
}

}  // namespace flashlab::exercises
