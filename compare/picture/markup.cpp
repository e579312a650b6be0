#include "compare/picture/markup.hpp"

#include <cstdint>

namespace flashlab::compare {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};

/// By the strict rules: shortest form, no surrogates.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length, true};
}

bool is_fit_for_markup(const Character& character) {
  const std::uint32_t code = character.code;
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  const bool controls = code < 0x20 || within(0x7F, 0x9F);
  const bool directions =
      within(0x200E, 0x200F) || within(0x202A, 0x202E) || within(0x2066, 0x2069);
  return character.is_valid && !controls && !directions && (code & 0xFFFEU) != 0xFFFE;
}

void append(std::string& result, std::string_view character) {
  switch (character.front()) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += character;
  }
}

}  // namespace

std::string markup_start(std::string_view text, std::size_t most_characters) {
  std::string result;
  for (std::size_t i = 0; !text.empty(); ++i) {
    if (i == most_characters) return result + "…";
    const Character character = first_character(text);
    if (is_fit_for_markup(character)) {
      append(result, text.substr(0, character.bytes));
    } else {
      result += "\xEF\xBF\xBD";
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string markup_text(std::string_view text) { return markup_start(text, text.size()); }

std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    name += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '_';
  }
  return name;
}

}  // namespace flashlab::compare
