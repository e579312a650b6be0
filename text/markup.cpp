#include "text/markup.hpp"

#include <array>

#include "text/utf8.hpp"
#include "text/visible.hpp"

namespace flashlab {
namespace {

void append_line(std::string& result, std::string_view line) {
  for (const char c : visible(line)) {
    switch (c) {
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
        result += c;
    }
  }
}

}  // namespace

std::string markup_text(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t end = text.find('\n');
    append_line(result, text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string markup_start(std::string_view text, std::size_t most_characters) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < most_characters && end < text.size(); ++i) {
    end += code_point(text, end).bytes;
  }
  return markup_text(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

std::string kept_together(std::string text) {
  constexpr std::array<std::array<std::string_view, 2>, 2> kPairs = {
      {{" = ", "\u00a0=\u00a0"}, {" %", "\u00a0%"}}};
  for (const auto& [from, to] : kPairs) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    name += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '_';
  }
  return name;
}

}  // namespace flashlab
