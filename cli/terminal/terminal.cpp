#include "cli/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace flashlab::cli {
namespace {

constexpr std::size_t kNarrowest = 20, kWidest = 500, kUsualWidth = 80;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool wants_color(ColorChoice choice) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" &&
         isatty(STDOUT_FILENO) == 1;
}

std::size_t detect_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::size_t columns =
      std::strtoul(std::string(environment("COLUMNS")).c_str(), nullptr, 10);
  return columns > 0 ? columns : kUsualWidth;
}

/// The code point that starts at `position`, which moves behind it. Broken UTF-8 counts by bytes.
std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto first = static_cast<unsigned char>(text[position++]);
  if (first < 0xC0) return first;
  std::uint32_t code = first & (first < 0xE0 ? 0x1FU : first < 0xF0 ? 0x0FU : 0x07U);
  while (position < text.size() && (static_cast<unsigned char>(text[position]) & 0xC0U) == 0x80) {
    code = code << 6 | (static_cast<unsigned char>(text[position++]) & 0x3FU);
  }
  return code;
}

std::size_t code_point_width(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 3> kCombining{{{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}}};
  constexpr std::array<Range, 8> kWide{{{0x1100, 0x115F},
                                        {0x2E80, 0xA4CF},
                                        {0xAC00, 0xD7A3},
                                        {0xF900, 0xFAFF},
                                        {0xFE30, 0xFE6F},
                                        {0xFF00, 0xFF60},
                                        {0x1F300, 0x1FAFF},
                                        {0x20000, 0x3FFFD}}};
  const auto holds = [code](const Range& range) {
    return code >= range.first && code <= range.last;
  };
  if (std::any_of(kCombining.begin(), kCombining.end(), holds)) return 0;
  return std::any_of(kWide.begin(), kWide.end(), holds) ? 2 : 1;
}

/// Moves behind the escape code at `position`, if one starts there.
bool skip_escape(std::string_view text, std::size_t& position) {
  if (text[position] != '\x1b') return false;
  position = std::min(text.find('m', position), text.size() - 1) + 1;
  return true;
}

/// The most bytes from the start that fit into `width` columns, at least one letter.
std::size_t fitting_bytes(std::string_view text, std::size_t width) {
  std::size_t position = 0, columns = 0;
  while (position < text.size()) {
    std::size_t next = position;
    if (!skip_escape(text, next)) columns += code_point_width(next_code_point(text, next));
    if (columns > width && position > 0) break;
    position = next;
  }
  return position;
}

}  // namespace

Terminal detect_terminal(const TerminalRequest& request) {
  Terminal terminal;
  terminal.width =
      std::clamp(request.width > 0 ? request.width : detect_width(), kNarrowest, kWidest);
  terminal.color = wants_color(request.color);
  terminal.unicode = request.unicode || (!request.ascii && locale_is_utf8());
  return terminal;
}

std::string styled(std::string_view text, Style style, const Terminal& terminal) {
  if (!terminal.color || text.empty()) return std::string(text);
  constexpr std::array<const char*, 6> kCodes{"1", "2", "31", "32", "33", "34"};
  return std::string("\x1b[") + kCodes[static_cast<std::size_t>(style)] + "m" + std::string(text) +
         "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t position = 0; position < text.size();) {
    if (skip_escape(text, position)) continue;
    columns += code_point_width(next_code_point(text, position));
  }
  return columns;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 1);
  while (display_width(text) > width) {
    std::size_t end = fitting_bytes(text, width);
    if (text[end] != ' ') {
      const std::size_t space = text.substr(0, end).rfind(' ');
      const std::size_t first = text.find_first_not_of(' ');  // what indents stays with its word
      if (space != std::string_view::npos && space > first) end = space;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  for (std::size_t i = 0; i + 1 < result.size(); ++i) {  // U+0080 to U+009F: controls, too
    const auto next = static_cast<unsigned char>(result[i + 1]);
    if (result[i] == '\xC2' && next >= 0x80 && next < 0xA0) result.replace(i, 2, "?");
  }
  return result;
}

}  // namespace flashlab::cli
