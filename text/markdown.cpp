#include "text/markdown.hpp"

#include <algorithm>
#include <cstddef>

#include "text/lists.hpp"

namespace flashlab {
namespace {

constexpr std::string_view kSigns = "\\`*_[]<>&#~|$";

/// The number of backticks that begin a text.
std::size_t backticks(std::string_view text) {
  return std::min(text.find_first_not_of('`'), text.size());
}

/// Where the next run of exactly `length` backticks begins.
std::size_t closing_run(std::string_view text, std::size_t length) {
  std::size_t at = text.find('`');
  while (at != std::string_view::npos) {
    const std::size_t run = backticks(text.substr(at));
    if (run == length) return at;
    at = text.find('`', at + run);
  }
  return at;
}

void append_without_signs(std::string_view line, std::string& text) {
  while (!line.empty()) {
    std::size_t taken = 1;
    if (const std::size_t run = backticks(line); run > 0) {
      const std::size_t end = closing_run(line.substr(run), run);
      taken = run;
      if (end == std::string_view::npos) {
        text += line.substr(0, run);
      } else {
        std::string_view code = line.substr(run, end);
        if (code.size() > 1 && code.starts_with(' ') && code.ends_with(' ')) {
          code = code.substr(1, code.size() - 2);
        }
        text += code;
        taken = run + end + run;
      }
    } else if (line.starts_with("**")) {
      taken = 2;
    } else if (line.size() > 1 && line[0] == '\\' && kSigns.find(line[1]) != kSigns.npos) {
      text += line[1];
      taken = 2;
    } else {
      text += line[0];
    }
    line.remove_prefix(taken);
  }
}

}  // namespace

std::string markdown_code(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t run = backticks(text.substr(at));
    longest = std::max(longest, run);
    at += run;
  }
  const std::string fence(longest + 1, '`');
  const bool needs_blanks = text.starts_with('`') || text.ends_with('`');
  const std::string blank(needs_blanks ? " " : "");
  return fence + blank + std::string(text) + blank + fence;
}

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (kSigns.find(c) != kSigns.npos) result += '\\';
    result += c;
  }
  return result;
}

std::string without_markdown(std::string_view markdown) {
  std::string text;
  bool is_block = false;
  for (const std::string_view line : split_at(markdown, '\n')) {
    if (line.starts_with("```") && line.find('`', backticks(line)) == line.npos) {
      is_block = !is_block;
      continue;
    }
    if (!is_block && line == "---") continue;
    if (is_block) {
      text += line;
    } else {
      append_without_signs(line, text);
    }
    text += '\n';
  }
  // What separated two parts is one empty line.
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace flashlab
