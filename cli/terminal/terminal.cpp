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

bool is_on(const char* name) {
  const std::string_view value = environment(name);
  return !value.empty() && value != "0";
}

bool wants_color(ColorChoice choice) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!environment("NO_COLOR").empty()) return false;
  if (is_on("FORCE_COLOR") || is_on("CLICOLOR_FORCE")) return true;
  return environment("CLICOLOR") != "0" && knows_escape_codes() && isatty(STDOUT_FILENO) == 1;
}

std::size_t detect_width() {
  if (const WindowSize window = window_size(); window.columns > 0) return window.columns;
  const std::size_t columns =
      std::strtoul(std::string(environment("COLUMNS")).c_str(), nullptr, 10);
  return columns > 0 ? columns : kUsualWidth;
}

}  // namespace

bool knows_escape_codes() {
  const std::string_view kind = environment("TERM");
  return !kind.empty() && kind != "dumb";
}

bool can_rewrite_lines() { return isatty(STDERR_FILENO) == 1 && knows_escape_codes(); }

WindowSize window_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

WindowSize screen_size() {
  constexpr std::size_t kUsualHeight = 24;
  WindowSize size = window_size();
  if (size.columns == 0) size.columns = std::clamp(detect_width(), kNarrowest, kWidest);
  if (size.rows == 0) {
    size.rows = std::strtoul(std::string(environment("LINES")).c_str(), nullptr, 10);
    size.rows = size.rows > 0 ? std::min(size.rows, kWidest) : kUsualHeight;
  }
  return size;
}

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

}  // namespace flashlab::cli
