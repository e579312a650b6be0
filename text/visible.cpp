#include "text/visible.hpp"

#include <fmt/format.h>

#include <sstream>

#include "text/utf8.hpp"

namespace flashlab {
namespace {

bool is_blank(const CodePoint& point) {
  return point.code == '\t' || point.code == '\n' || point.code == '\r';
}

std::string escape_of(const CodePoint& point) {
  if (point.code < 0x100) return fmt::format("\\x{:02x}", point.code);
  return point.code < 0x10000 ? fmt::format("\\u{:04x}", point.code)
                              : fmt::format("\\U{:08x}", point.code);
}

std::string made_visible(std::string_view text, bool is_name) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (point.code == '\t' && !is_name) {
      result += "    ";  // the caret line has tabs at the same places
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

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    result += is_odd(point) ? "?" : text.substr(at, point.bytes);
    at += point.bytes;
  }
  return result;
}

std::optional<std::size_t> first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (is_odd(point) && !is_blank(point)) return at;
    at += point.bytes;
  }
  return std::nullopt;
}

std::string on_one_line(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

std::string visible(std::string_view text) { return made_visible(text, false); }

std::string visible_name(std::string_view name) { return made_visible(name, true); }

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
  std::size_t line_start = text.size() - without_byte_order_mark(text).size();
  for (std::size_t at = line_start; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (!is_blank(point) && is_odd(point)) {
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

}  // namespace flashlab
