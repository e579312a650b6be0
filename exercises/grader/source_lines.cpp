#include "exercises/grader/source_lines.hpp"

#include <algorithm>

namespace flashlab::exercises {
namespace {

/// Bytes of the UTF-8 character that begins here, and its code; 0 bytes: none does.
struct Character {
  std::size_t length = 0;
  std::uint32_t code = 0;
};

Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? Character{} : Character{length, code};
}

bool acts_on_terminals(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
         (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff0 && code <= 0xffff);
}

}  // namespace

std::string harmless(std::string_view text, std::size_t most) {
  std::string result;
  while (!text.empty()) {
    const Character character = decode(text);
    const std::size_t length = std::max<std::size_t>(character.length, 1);
    if (result.size() + length > most) return result + "...";
    if (character.length == 0 || acts_on_terminals(character.code)) {
      result += character.code == '\t' ? ' ' : '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

void append_source_line(Finding& finding, const toy::SourceText& source, std::uint32_t line) {
  if (line == 0) return;
  std::string number = std::to_string(line);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
  finding.details.push_back(number + " | " + harmless(source.line(line), 100));
}

}  // namespace flashlab::exercises
