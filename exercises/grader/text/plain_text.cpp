#include "exercises/grader/text/plain_text.hpp"

#include <cstdint>
#include <sstream>

#include "exercises/grader/text/utf8.hpp"

namespace flashlab::exercises {
namespace {

bool is_blank_code(std::uint32_t code) { return code == '\t' || code == '\n' || code == '\r'; }

std::size_t characters_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace

std::optional<std::size_t> first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (is_odd(point) && !is_blank_code(point.code)) return at;
    at += point.bytes;
  }
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (is_odd(point) && !is_blank_code(point.code)) {
      result += '?';
    } else {
      result += text.substr(at, point.bytes);
    }
    at += point.bytes;
  }
  return result;
}

std::string short_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
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
