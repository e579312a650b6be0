#include "exercises/grader/plain_text.hpp"

#include <cstdint>
#include <sstream>

namespace flashlab::exercises {
namespace {

/// A character that stands at the begin of the text; `bytes` is 1 where it is no UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) return {};
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLowest[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, length, true};
}

bool acts(std::uint32_t code) {
  if (code < 0x20) return code != '\t' && code != '\n' && code != '\r';
  return (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::size_t characters_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace

std::optional<std::size_t> first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode(text.substr(at));
    if (!character.valid || acts(character.code)) return at;
    at += character.bytes;
  }
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode(text.substr(at));
    if (character.valid && !acts(character.code)) {
      result += text.substr(at, character.bytes);
    } else {
      result += '?';
    }
    at += character.bytes;
  }
  return result;
}

std::string on_one_line(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::vector<std::string> lines;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const std::size_t length = characters_of(word);
    if (lines.empty() || used + 1 + length > width) {
      lines.push_back(word);
      used = length;
    } else {
      lines.back() += " " + word;
      used += 1 + length;
    }
  }
  return lines;
}

}  // namespace flashlab::exercises
