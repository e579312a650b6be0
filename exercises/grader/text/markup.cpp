#include "exercises/grader/text/markup.hpp"

#include "exercises/grader/text/visible_text.hpp"

namespace flashlab::exercises {
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

}  // namespace flashlab::exercises
